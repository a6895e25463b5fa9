import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { names, play } from '../../../testing/dispatcher.ts';
import { aDelivery, aWebhook } from '../../../testing/samples.ts';
import type { Webhook } from '../attempt/webhook.ts';

/** A dispatcher with one destination that gets batches, and works. */
async function playBatches(t: TestContext, change: Partial<Webhook> = {}) {
  const p = play(t, { worked: ['dst_1'] });
  const webhook = aWebhook({ format: 'batch', ...change });
  const pending = (id: string) => ({
    delivery: aDelivery({ id }),
    webhook,
    finish: (made: unknown) => void (made === undefined ? p.back : p.finished).push(id),
  });
  return {
    ...p,
    offer: (...ids: string[]) => ids.forEach((id) => p.dispatcher.offer(pending(id))),
    offerBacklog: (...ids: string[]) => ids.forEach((id) => p.dispatcher.offerBacklog(pending(id))),
    probe: (id: string) => p.dispatcher.probe(pending(id)),
    tick: (ms: number) => {
      p.clock.now += ms;
      t.mock.timers.tick(ms);
    },
    sizes: () => p.started.map(({ id }) => id.split(' ').length),
  };
}

suite('gathering a batch', () => {
  test('a lone event is held for 20 ms and no longer', async (t) => {
    const p = await playBatches(t);
    p.offer('a');
    p.tick(19);
    assert.deepEqual(p.sizes(), []);
    assert.equal(p.dispatcher.waiting(), 1);
    p.tick(1);
    assert.deepEqual(p.sizes(), [1]);
  });

  test('events that come meanwhile go with it, in one request that takes one place', async (t) => {
    const p = await playBatches(t);
    p.offer('a', 'b');
    p.tick(10);
    p.offer('c');
    p.offerBacklog('old');
    p.tick(10);
    assert.deepEqual(
      p.started.map(({ id }) => id),
      ['old a b c'],
    );
    assert.equal(p.dispatcher.inFlight(), 1);
    await p.running[0]?.end();
    assert.deepEqual(p.finished, ['old', 'a', 'b', 'c'], 'and each is finished');
    assert.equal(p.dispatcher.inFlight(), 0);
  });

  test('a whole batch does not wait', async (t) => {
    const p = await playBatches(t);
    p.offer(...names(0, 230));
    assert.deepEqual(p.sizes(), [100, 100]);
    p.tick(20);
    assert.deepEqual(p.sizes(), [100, 100, 30]);
  });

  test('what waits for a place gathers meanwhile, and starts when there is one', async (t) => {
    const p = await playBatches(t, { maxConcurrency: 1 });
    p.offer('a');
    p.tick(20);
    p.offer('b');
    p.tick(40);
    p.offer('c');
    assert.deepEqual(p.sizes(), [1]);
    await p.running[0]?.end();
    assert.deepEqual(
      p.started.map(({ id }) => id),
      ['a', 'b c'],
    );
  });

  test('a rate limits the requests, not the events in them', async (t) => {
    const p = await playBatches(t, { maxPerSecond: 2 });
    p.offer(...names(0, 150));
    p.tick(20);
    assert.deepEqual(p.sizes(), [100]);
    await p.pass(500);
    assert.deepEqual(p.sizes(), [100, 50]);
  });

  test('a probe is alone and is not held', async (t) => {
    const p = await playBatches(t);
    p.dispatcher.shut('dst_1', { why: 'failing', sentence: '', since: 0 });
    p.probe('a');
    assert.deepEqual(p.sizes(), [1]);
  });

  test('what is gathered when the process stops is handed back', async (t) => {
    const p = await playBatches(t);
    p.offer('a', 'b');
    p.dispatcher.stop();
    assert.deepEqual(p.back, ['a', 'b']);
    p.tick(20);
    assert.deepEqual(p.sizes(), []);
  });
});

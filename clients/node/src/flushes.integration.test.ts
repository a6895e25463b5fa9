/** The known fault of other libraries: a flush that resolves while calls made before it are still on their way. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveAnswers } from '../testing/serve-answers.ts';
import { trackMany } from '../testing/watch-calls.ts';
import { ClosedError, type Counts, Millrace } from './index.ts';

const PLACES = 100;

suite('overlapping flushes', () => {
  for (const way of ['flush', 'close'] as const) {
    test(`from 100 places at once, the last with ${way}: each is over after its own calls were answered`, async () => {
      await using server = await serveAnswers((_, number) =>
        number % 4 === 0 ? 503 : { status: 200, afterMs: number % 7 },
      );
      const client = new Millrace('key', { endpoint: server.url, minRetryMs: 1, maxRetryMs: 2, flushAt: 3 });
      const place = async (number: number): Promise<Counts> => {
        await sleep(number % 10);
        const calls = 1 + (number % 5);
        trackMany(client, calls, number * 10);
        const counts = await client.flush();
        const stored = server.storedIds();
        for (let n = 0; n < calls; n += 1) assert.ok(stored.has(`c${number * 10 + n}`), `call ${n} of place ${number}`);
        return counts;
      };
      const all = await Promise.all(Array.from({ length: PLACES }, (_, index) => place(index + 1)));
      const last = await client[way]();
      const counted = [...all, last].reduce((sum, { sent }) => sum + sent, 0);
      const made = Array.from({ length: PLACES }, (_, index) => 1 + ((index + 1) % 5)).reduce((a, b) => a + b);
      assert.equal(counted, made, 'every call is counted by exactly one flush');
      assert.equal(server.storedIds().size, made);
      await client.close();
    });
  }

  test('100 times close at once is one close', async () => {
    await using server = await serveAnswers(() => ({ status: 200, afterMs: 20 }));
    const client = new Millrace('key', { endpoint: server.url });
    trackMany(client, 5);
    const closes = Array.from({ length: PLACES }, () => client.close());
    assert.throws(() => trackMany(client, 1), ClosedError);
    for (const counts of await Promise.all(closes)) assert.equal(counts.sent, 5);
    assert.equal(server.requests.length, 1);
    await assert.rejects(client.now.track({ userId: 'u1', event: 'E' }), ClosedError);
  });

  test('a flush waits for a call that is being sent by now', async () => {
    await using server = await serveAnswers(() => ({ status: 200, afterMs: 30 }));
    await using client = new Millrace('key', { endpoint: server.url });
    const sending = client.now.track({ userId: 'u1', event: 'E', messageId: 'c1' });
    assert.equal((await client.flush()).sent, 1);
    assert.ok(server.storedIds().has('c1'));
    await sending;
  });

  test('a flush of nothing is over at once, and so is one after close', async () => {
    const client = new Millrace('key', { endpoint: 'http://127.0.0.1:9' });
    const nothing = { sent: 0, failed: 0, dropped: 0, kept: 0 };
    assert.deepEqual(await client.flush(), nothing);
    assert.deepEqual(await client.close(), nothing);
    assert.deepEqual(await client.flush(), nothing);
  });

  test('await using closes', async () => {
    await using server = await serveAnswers();
    {
      await using client = new Millrace('key', { endpoint: server.url });
      trackMany(client, 3);
    }
    assert.equal(server.storedIds().size, 3);
  });
});

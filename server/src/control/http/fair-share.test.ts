import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openFairShare, type Turn } from './fair-share.ts';

const SETTINGS = { total: 4, perKey: 2, maxWaiting: 3, patienceMs: 60_000 };

suite('a fair share', () => {
  test('gives no key more turns at once than its own', async () => {
    const share = openFairShare(SETTINGS);
    const [a, b] = [await share.enter('one'), await share.enter('one')];
    assert.ok(a && b);
    const third = settled(share.enter('one'));
    assert.equal(await third.now(), 'waits');
    assert.ok(await share.enter('two'), 'the other key does not wait');
    a[Symbol.dispose]();
    assert.ok(await third.promise);
    assert.equal(share.inside(), 3);
  });

  test('lets keys that wait take turns, however many wait for one of them', async () => {
    const share = openFairShare({ ...SETTINGS, total: 1, perKey: 1, maxWaiting: 100 });
    const first = await share.enter('greedy');
    const order: string[] = [];
    const done: Promise<void>[] = [];
    const queue = (key: string) =>
      done.push(
        share.enter(key).then((turn) => {
          order.push(key);
          turn?.[Symbol.dispose]();
        }),
      );
    for (let i = 0; i < 10; i += 1) queue('greedy');
    queue('modest');
    first?.[Symbol.dispose]();
    await Promise.all(done);
    assert.ok(order.indexOf('modest') <= 1, order.join(' '));
    assert.equal(share.inside(), 0);
  });

  test('refuses at once what would pile up, by key and by member', async () => {
    const share = openFairShare({ ...SETTINGS, perMember: 3 });
    const turns: Promise<Turn | undefined>[] = [];
    for (let i = 0; i < 3; i += 1) turns.push(share.enter('one', 'viewer'));
    assert.equal(await share.enter('one', 'viewer'), undefined, 'this member has enough');
    for (let i = 0; i < 2; i += 1) turns.push(share.enter('one', 'owner'));
    assert.equal(await share.enter('one', 'another'), undefined, 'this key has enough that wait');
    assert.ok(await share.enter('two', 'viewer'));
    for (const turn of turns) (await turn)?.[Symbol.dispose]();
    assert.ok(await share.enter('one', 'viewer'), 'nothing is held against them afterwards');
  });

  test('does not wait for ever, and forgets who gave up', async () => {
    const share = openFairShare({ ...SETTINGS, perKey: 1, perMember: 2, patienceMs: 1 });
    const turn = await share.enter('one', 'm');
    assert.equal(await share.enter('one', 'm'), undefined);
    turn?.[Symbol.dispose]();
    assert.equal(share.inside(), 0);
    assert.ok(await share.enter('one', 'm'));
    assert.equal(share.inside(), 1);
  });
});

function settled<T>(promise: Promise<T>) {
  const waits = new Promise<'waits'>((resolve) => setImmediate(resolve, 'waits'));
  return { promise, now: () => Promise.race([promise, waits]) };
}

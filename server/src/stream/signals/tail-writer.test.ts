import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { isMatch, keyOf } from './tail-entry.ts';
import { openTailWriter } from './tail-writer.ts';
import type { Connection } from '../nats/connect-nats.ts';

/** A connection that only keeps what is published, and a clock of the test's own. */
function openWriter(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const published: { subject: string; text: string }[] = [];
  let want: (sourceId: string, from: string, filters: object[]) => void = () => undefined;
  const nc = {
    subscribe(_subject: string, { callback }: { callback(error: null, message: object): void }) {
      want = (sourceId, from, filters) =>
        callback(null, { subject: `tail.want.${sourceId}`, json: () => ({ from, filters }) });
      return { unsubscribe: () => undefined };
    },
    publish: (subject: string, text: string) => void published.push({ subject, text }),
  };
  const writer = openTailWriter({ nc, isConnected: () => true } as unknown as Connection);
  return {
    writer,
    want: (sourceId: string, from: string, filters: object[]) => want(sourceId, from, filters),
    tick: (ms: number) => t.mock.timers.tick(ms),
    taken: () => published.splice(0).map(({ text }) => JSON.parse(text) as { entries: unknown[]; leftOut: object }),
  };
}

suite('who writes for the tail', () => {
  test('writes nothing that nobody asked for', (t) => {
    const { writer, want } = openWriter(t);
    assert.equal(writer.isWanted('src_1'), false);
    assert.equal(writer.takes('src_1', 'track', {}), false);
    want('src_1', 'a', [{}]);
    assert.deepEqual([writer.isWanted('src_1'), writer.isWanted('src_2')], [true, false]);
    want('src_1', 'a', []);
    assert.equal(writer.isWanted('src_1'), false);
    writer[Symbol.dispose]();
  });

  test('sends 50 at once and 25 a second for a wish, and counts what it leaves out for those who wished it', (t) => {
    const { writer, want, tick, taken } = openWriter(t);
    want('src_1', 'a', [{ userId: 'u1' }, { type: 'page' }]);
    for (let i = 0; i < 80; i += 1) if (writer.takes('src_1', 'track', { userId: 'u1' })) writer.send('src_1', `${i}`);
    assert.equal(writer.takes('src_1', 'page', { userId: 'u2' }), true, 'another wish has room of its own');
    writer.send('src_1', '"page"');
    assert.equal(writer.takes('src_1', 'track', { userId: 'u2' }), false, 'nobody wished for this');
    tick(200);
    const [batch] = taken();
    assert.equal(batch?.entries.length, 51);
    assert.deepEqual(batch?.leftOut, { [keyOf({ userId: 'u1' })]: 30 });
    for (let i = 0; i < 80; i += 1) if (writer.takes('src_1', 'track', { userId: 'u1' })) writer.send('src_1', `${i}`);
    tick(200);
    assert.equal(taken()[0]?.entries.length, 5, 'a fifth of a second later there is room for a fifth');
    writer[Symbol.dispose]();
  });

  test('sends at most 100 at once for all of them together', (t) => {
    const { writer, want } = openWriter(t);
    let sent = 0;
    for (let source = 0; source < 10; source += 1) want(`src_${source}`, 'a', [{}]);
    for (let i = 0; i < 1_000; i += 1) if (writer.takes(`src_${i % 10}`, 'track', {})) sent += 1;
    assert.equal(sent, 100);
    writer[Symbol.dispose]();
  });
});

test('a filter lets through what fits in every field it has', () => {
  const call = { event: 'Bought', userId: 7 };
  assert.equal(isMatch({}, undefined, {}), true);
  assert.equal(isMatch({ type: 'track', event: 'Bought', userId: '7' }, 'track', call), true);
  assert.equal(isMatch({ type: 'page' }, 'track', call), false);
  assert.equal(isMatch({ event: 'Sold' }, 'track', call), false);
  assert.equal(isMatch({ event: 'Home' }, 'page', { name: 'Home' }), true);
  assert.equal(isMatch({ userId: 'u1' }, 'track', {}), false);
});

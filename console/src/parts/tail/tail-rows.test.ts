import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type CallRow, openTailRows } from './tail-rows.ts';

const at = '2026-11-17T14:36:20.000Z';
const accepted = (messageId: string) => ({ kind: 'accepted', at, messageId, type: 'track', name: 'Order Completed' });
const outcome = (messageId: string, destinationId: string, word: string, time = at) => ({
  kind: 'outcome',
  at: time,
  messageId,
  destinationId,
  deliveryId: 'dlv_1',
  outcome: word,
});

suite('the rows of a live tail', () => {
  test('are the newest five hundred, newest first, however many came', () => {
    const tail = openTailRows();
    for (let second = 0; second < 20; second += 1) {
      tail.add(
        Array.from({ length: 1_000 }, (_, place) => accepted(`m${second}-${place}`)),
        second * 1_000,
      );
    }
    const rows = tail.list() as CallRow[];
    assert.equal(rows.length, 500);
    assert.equal(rows[0]?.messageId, 'm19-999');
    assert.equal(tail.counts().calls, 20_000);
    assert.equal(tail.rate(20_000), 1_000);
  });

  test('take up the outcomes of their call, also one that came first', () => {
    const tail = openTailRows();
    tail.add([outcome('m1', 'dst_1', 'delivered'), accepted('m1'), outcome('m1', 'dst_2', 'retry')], 0);
    tail.add([outcome('m1', 'dst_2', 'delivered', '2026-11-17T14:36:25.000Z')], 0);
    const [row] = tail.list() as CallRow[];
    assert.deepEqual(
      row?.outcomes.map(({ destinationId, outcome: word }) => [destinationId, word]),
      [
        ['dst_1', 'delivered'],
        ['dst_2', 'delivered'],
      ],
    );
  });

  test('keep the latest outcome when an older one comes late', () => {
    const tail = openTailRows();
    tail.add([accepted('m1'), outcome('m1', 'dst_1', 'delivered', '2026-11-17T14:36:25.000Z')], 0);
    tail.add([outcome('m1', 'dst_1', 'retry', '2026-11-17T14:36:21.000Z')], 0);
    assert.equal((tail.list()[0] as CallRow).outcomes[0]?.outcome, 'delivered');
  });

  test('say what was left out, once for seconds in a row', () => {
    const tail = openTailRows();
    const sampled = { kind: 'sampled', leftOut: 14, maxPerSecond: 50 };
    tail.add([accepted('m1'), sampled, sampled, { kind: 'open' }], 0);
    const rows = tail.list();
    assert.deepEqual(
      rows.map((row) => (row.kind === 'left-out' ? row.leftOut : row.kind)),
      [28, 'accepted'],
    );
    assert.equal(tail.counts().leftOut, 28);
  });

  test('have a rate over the seconds that are over', () => {
    const tail = openTailRows();
    tail.add([{ kind: 'open' }], 0);
    assert.equal(tail.rate(500), 0);
    tail.add([accepted('m1'), accepted('m2'), accepted('m3')], 1_500);
    assert.equal(tail.rate(3_000), 1);
    assert.equal(tail.rate(60_000), 0);
  });
});

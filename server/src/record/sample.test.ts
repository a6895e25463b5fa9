import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { attempted } from '../../testing/outcomes.ts';
import { isLeftOut } from './sample.ts';

const plain = attempted(1, 'delivered', 200);
const isOut = (change: object, rows = 0) => isLeftOut({ ...plain, ...change }, rows);

suite('rows that are left out', () => {
  test('are those of first attempts that succeeded, and no others', () => {
    assert.ok(isOut({}));
    for (const change of [
      { attempt: 2 },
      { outcome: 'retry' },
      { outcome: 'discarded' },
      { kind: 'waiting', attempts: 0 },
      { type: 'delete' },
      { replayId: 'rpl_1' },
      { messageId: 'cmp_1' },
    ]) {
      assert.ok(!isOut(change), JSON.stringify(change));
    }
    assert.ok(!isOut({}, 1));
  });

  test('are about as many as the share says, and the same ones every time', () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => `dlv_${index}`);
    const out = ids.filter((deliveryId) => isOut({ deliveryId }, 0.25));
    assert.ok(Math.abs(out.length / ids.length - 0.75) < 0.05, `${out.length}`);
    assert.deepEqual(
      ids.filter((deliveryId) => isOut({ deliveryId }, 0.25)),
      out,
    );
    // A larger share keeps every row that a smaller one keeps.
    assert.ok(ids.filter((deliveryId) => isOut({ deliveryId }, 0.5)).every((id) => out.includes(id)));
  });
});

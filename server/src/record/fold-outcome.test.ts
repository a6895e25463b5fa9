import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { DeliveryRow } from '../store/deliveries.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { foldOutcome } from './fold-outcome.ts';
import { attempted, BASE, facts } from '../../testing/outcomes.ts';

suite('what the record says of a delivery', () => {
  test('does not depend on the order in which things come, nor on how often', () => {
    fc.assert(
      fc.property(facts(), fc.array(fc.nat()), (entries, order) => {
        const expected = fold(entries);
        const again = [...entries, ...entries].toSorted(
          (a, b) => (order[a.at % (order.length + 1)] ?? 0) - (order[b.at % (order.length + 1)] ?? 0),
        );
        const folded = fold(again);
        assert.deepEqual(folded.row, expected.row);
        // Which of two ways to be discarded is counted may depend on it, but not how often.
        assert.deepEqual(folded.ends.map(outcomeOf), expected.ends.map(outcomeOf));
      }),
    );
  });

  test('stays delivered, whatever comes later or late', () => {
    fc.assert(
      fc.property(facts(), (entries) => {
        const wasDelivered = entries.some((entry) => entry.kind === 'attempt' && entry.outcome === 'delivered');
        assert.equal(fold(entries).row?.state === 'delivered', wasDelivered);
      }),
    );
  });

  test('is of the attempt that was delivered', () => {
    const { row } = fold([attempted(1, 'retry', 503), attempted(2, 'delivered', 200)]);
    assert.deepEqual([row?.state, row?.attempts, row?.last_status, row?.error_class], ['delivered', 2, 200, null]);
  });

  test('counts a delivery once for each end it had', () => {
    const { ends } = fold([
      attempted(1, 'discarded', 404),
      attempted(2, 'delivered', 200),
      attempted(3, 'delivered', 200),
    ]);
    assert.deepEqual(ends, ['delivered ', 'discarded http_404']);
  });

  test('names the latest replay, and the rule of a filter only while that is why it was skipped', () => {
    const rule = 'properties.plan equals "pro"';
    const filtered = { ...BASE, at: 5, kind: 'skipped', reason: 'filtered', rule } as const;
    assert.deepEqual([fold([filtered]).row?.rule, fold([filtered]).row?.replay_id], [rule, null]);
    const replayed = [attempted(2, 'delivered', 200), attempted(1, 'retry', 503)].map((entry, index) => {
      return { ...entry, replayId: `rpl_${2 - index}` };
    });
    const { row } = fold([filtered, ...replayed]);
    assert.deepEqual([row?.state, row?.rule, row?.replay_id], ['delivered', null, 'rpl_2']);
  });

  test('says that its user was erased, however it ended', () => {
    const { row } = foldOutcome(undefined, { ...attempted(1, 'delivered', 200), isErased: true });
    assert.deepEqual([row.is_erased, row.state], [true, 'delivered']);
    assert.equal(foldOutcome(row, attempted(2, 'delivered', 200)).row.is_erased, true);
  });

  test('names the full lane and the rule of a skip as the reason', () => {
    const full = { ...BASE, at: 5, kind: 'given_up', attempts: 0, reason: 'lane_full' } as const;
    assert.deepEqual([fold([full]).row?.state, fold([full]).row?.reason], ['discarded', 'lane_full']);
    const unkept = fold([{ ...full, letter: 'refused' }]).row;
    assert.deepEqual([unkept?.state, unkept?.reason], ['discarded', 'letter_refused']);
    const skipped = { ...BASE, at: 5, kind: 'skipped', reason: 'blocked_event' } as const;
    assert.deepEqual([fold([skipped]).row?.state, fold([skipped]).row?.reason], ['skipped', 'blocked_event']);
  });
});

function fold(entries: readonly OutcomeEntry[]): { row: DeliveryRow | undefined; ends: string[] } {
  let row: DeliveryRow | undefined;
  const ends: string[] = [];
  for (const entry of entries) {
    const folded = foldOutcome(row, entry);
    row = folded.row;
    if (folded.counted !== undefined) ends.push(`${folded.counted.outcome} ${folded.counted.errorClass}`);
  }
  return { row, ends: ends.toSorted() };
}

const outcomeOf = (end: string) => end.split(' ')[0];

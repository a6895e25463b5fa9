/** Every list of a profile is bounded. Beyond the bound the choice of what stays must not depend on the order of events. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { FilterValue } from '@millrace/contract';
import { openDice } from '../../../testing/compute/dice.ts';
import { gatherBytes } from './bytes.ts';
import { addGroup, type Groups, mergeGroups, writeGroups } from './groups.ts';
import { MAX_SEEN_IDS, rememberId, seenIds, writeSeen } from './seen-ids.ts';
import { addToTile, mergeTiles, noTiles, type Tiles, writeTiles } from './tiles.ts';
import { addTraits, type Traits, writeTraits } from './traits.ts';
import {
  addUnique,
  addValueCount,
  mergeUnique,
  mergeValueCounts,
  pruneUnique,
  pruneValueCounts,
  type UniqueValues,
  uniqueValues,
  type ValueCounts,
  valueCounts,
  writeUnique,
  writeValueCounts,
} from './value-cells.ts';

const HOUR = 3_600_000;
const dice = openDice(15);

type Kept<Part, Item> = {
  make(): Part;
  add(part: Part, item: Item): void;
  merge?(into: Part, from: Part): void;
  bytes(part: Part): Uint8Array;
};

/** Adds the items in several orders, and once in two halves that are merged. */
function isOrderFree<Part, Item>(items: readonly Item[], { make, add, merge, bytes }: Kept<Part, Item>): void {
  const fold = (list: readonly Item[]) => {
    const part = make();
    for (const item of list) add(part, item);
    return part;
  };
  const expected = bytes(fold(items));
  for (let n = 0; n < 5; n += 1) assert.deepEqual(bytes(fold(dice.shuffle(items))), expected);
  if (merge === undefined) return;
  const shuffled = dice.shuffle(items);
  const [left, right] = [fold(shuffled.slice(0, items.length / 3)), fold(shuffled.slice(items.length / 3))];
  merge(left, right);
  assert.deepEqual(bytes(left), expected, 'merged halves are the whole');
}

const valuesAt = Array.from({ length: 400 }, (): [FilterValue, number] => [
  `v${dice.whole(1, 150)}`,
  dice.whole(1, 40),
]);

suite('a list of values', () => {
  const unique: Kept<UniqueValues, [FilterValue, number]> = {
    make: uniqueValues,
    add: (values, [value, bucket]) => addUnique(values, value, bucket),
    merge: mergeUnique,
    bytes: (values) => gatherBytes((to) => writeUnique(to, values, 0)),
  };

  test('keeps the 100 newest in any order of events', () => isOrderFree(valuesAt, unique));

  test('is exact again when the dropped ones have left the window', () => {
    const values = uniqueValues();
    for (let n = 0; n < 150; n += 1) addUnique(values, n, n);
    assert.equal(values.newest.size, 100);
    assert.equal(values.dropped, 49);
    pruneUnique(values, 50);
    assert.deepEqual([values.newest.size, values.dropped], [100, undefined]);
  });
});

suite('the most frequent value', () => {
  const counts: Kept<ValueCounts, [FilterValue, number]> = {
    make: valueCounts,
    add: (values, [value, bucket]) => addValueCount(values, value, bucket),
    merge: mergeValueCounts,
    bytes: (values) => gatherBytes((to) => writeValueCounts(to, values, HOUR)),
  };

  test('is found among 100 values, the same in any order of events', () => isOrderFree(valuesAt, counts));

  test('counts all values again when the dropped ones have left the window', () => {
    const values = valueCounts();
    for (let n = 0; n < 101; n += 1) addValueCount(values, `v${String(n).padStart(3, '0')}`, n);
    assert.equal(values.cutoff, 'v100');
    addValueCount(values, 'v100', 105);
    assert.equal(values.counts.has('v100'), false);
    pruneValueCounts(values, 106);
    assert.equal(values.cutoff, undefined);
    addValueCount(values, 'v100', 107);
    assert.equal(values.counts.has('v100'), true);
  });
});

test('200 tiles are kept, the same in any order of events', () => {
  const events = Array.from({ length: 1_000 }, (): [number, number] => [
    dice.whole(1, 300) * 1e9,
    dice.whole(1, 2_000) * HOUR,
  ]);
  isOrderFree(events, {
    make: noTiles,
    add: (tiles: Tiles, [hash, at]: [number, number]) => addToTile(tiles, hash, at),
    merge: mergeTiles,
    bytes: (tiles) => gatherBytes((to) => writeTiles(to, tiles)),
  });
});

test('100 groups are kept, the newest, in any order of events', () => {
  const calls = Array.from({ length: 300 }, (): [string, number] => [`g${dice.whole(1, 150)}`, dice.whole(1, 1e6)]);
  isOrderFree(calls, {
    make: (): Groups => new Map(),
    add: (groups, [id, at]: [string, number]) => addGroup(groups, id, at),
    merge: mergeGroups,
    bytes: (groups) => gatherBytes((to) => writeGroups(to, groups)),
  });
});

test('64 traits are kept and all that definitions ask for, in any order of events', () => {
  const calls = Array.from({ length: 100 }, (_, hash) => {
    const names = Array.from({ length: 3 }, () => `t${dice.whole(1, 150)}`);
    return { at: dice.whole(1, 1e6), hash, traits: Object.fromEntries(names.map((name) => [name, hash])) };
  });
  const needed = new Set(['t1', 't2']);
  const made: Traits = new Map();
  isOrderFree(calls, {
    make: (): Traits => new Map(),
    add: (traits, { at, hash, traits: given }) => void addTraits(traits, given, { at, hash }, needed),
    bytes: (traits) => gatherBytes((to) => writeTraits(to, traits)),
  });
  addTraits(made, Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`t${n}`, n])), { at: 1, hash: 1 }, needed);
  assert.equal(made.size, 66);
  assert.ok(made.has('t1') && made.has('t2'));
});

suite('message ids', () => {
  test('are known for a day after their receipt', () => {
    const seen = seenIds();
    assert.equal(rememberId(seen, 1, 0).isKnown, false);
    assert.equal(rememberId(seen, 1, 24 * HOUR).isKnown, true);
    assert.equal(rememberId(seen, 1, 47 * HOUR).isKnown, true, 'counted from the last repetition');
    assert.equal(rememberId(seen, 2, 72 * HOUR).isKnown, false);
    assert.equal(rememberId(seen, 1, 72 * HOUR).isKnown, false);
  });

  test('are kept up to 256, and each that goes too early is told', () => {
    const seen = seenIds();
    let evicted = 0;
    for (let id = 0; id < 300; id += 1) evicted += rememberId(seen, id, id).evicted;
    assert.equal(evicted, 300 - MAX_SEEN_IDS);
    assert.equal(seen.hashes.length, MAX_SEEN_IDS);
  });

  test('are the same in any order of events', () => {
    const receipts = Array.from({ length: 200 }, (_, id): [number, number] => [id, dice.whole(0, 80) * HOUR]);
    isOrderFree(receipts, {
      make: seenIds,
      add: (seen, [id, at]: [number, number]) => void rememberId(seen, id, at),
      bytes: (seen) => gatherBytes((to) => writeSeen(to, seen)),
    });
  });
});

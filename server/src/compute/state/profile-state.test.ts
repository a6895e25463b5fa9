import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eventOf, folded, planOf, userOf } from '../../../testing/compute/plans.ts';
import {
  addAmounts,
  type Amount,
  byteReader,
  gatherBytes,
  readAmount,
  readNumber,
  readSigned,
  readText,
  writeAmount,
  writeNumber,
  writeSigned,
  writeText,
} from './bytes.ts';
import { decodeState, encodeState, NewerState } from './profile-state.ts';
import { type KeptValue, readValue, writeValue } from './value-bytes.ts';

suite('bytes', () => {
  test('hold numbers in as few bytes as they need', () => {
    const sizes = [0, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1].map((value) => {
      const bytes = gatherBytes((to) => writeNumber(to, value));
      assert.equal(readNumber(byteReader(bytes)), value);
      return bytes.length;
    });
    assert.deepEqual(sizes, [1, 1, 2, 2, 3, 5, 5, 8]);
    for (const value of [0, -1, 1, -64, 63, -(2 ** 40), 2 ** 51, -(2 ** 51)])
      assert.equal(readSigned(byteReader(gatherBytes((to) => writeSigned(to, value)))), value);
  });

  test('hold sums of any size exactly', () => {
    const sums: Amount[] = [0, -1, 2 ** 52, 2 ** 52 + 1, -(2 ** 53) + 1, 2n ** 60n, -(2n ** 70n) - 1n];
    for (const sum of sums) assert.equal(readAmount(byteReader(gatherBytes((to) => writeAmount(to, sum)))), sum);
    const large = addAmounts(Number.MAX_SAFE_INTEGER, 10);
    assert.equal(large, BigInt(Number.MAX_SAFE_INTEGER) + 10n);
    assert.equal(addAmounts(large, -20), Number.MAX_SAFE_INTEGER - 10, 'and are numbers again as soon as they fit');
  });

  test('hold texts and values', () => {
    assert.equal(readText(byteReader(gatherBytes((to) => writeText(to, 'größer 😀')))), 'größer 😀');
    const values: KeptValue[] = [
      null,
      true,
      false,
      0,
      -7,
      49.99,
      0.1 + 0.2,
      1e300,
      'text',
      [1, 'a', false],
      { a: { b: 1 }, c: null },
    ];
    for (const value of values)
      assert.deepEqual(readValue(byteReader(gatherBytes((to) => writeValue(to, value)))), value);
  });

  test('grow beyond the first buffer', () => {
    const text = 'x'.repeat(200_000);
    assert.equal(readText(byteReader(gatherBytes((to) => writeText(to, text)))), text);
  });
});

suite('the state of a profile', () => {
  const plan = planOf(
    { kind: 'audience', name: 'A', when: { event: 'E', window: '7d', atLeast: 1 } },
    { kind: 'trait', name: 'T', compute: 'unique_list', event: 'E', field: 'properties.sku' },
    { kind: 'trait', name: 'F', compute: 'most_frequent', event: 'E', field: 'properties.sku', window: '30d' },
    { kind: 'trait', name: 'L', compute: 'last', event: 'E', field: 'properties.sku' },
    { kind: 'trait', name: 'S', compute: 'sum', event: 'E', field: 'properties.revenue', window: '1d' },
    { kind: 'trait', name: 'M', compute: 'max', event: 'E', field: 'properties.revenue' },
  );

  test('is the same after it was stored and read', () => {
    const events = [3, 1, 2, 3].map((n) => eventOf({ properties: { sku: `sku-${n}`, revenue: n + 0.5 } }));
    const memory = folded(
      plan,
      ...events,
      eventOf({ type: 'identify', traits: { plan: 'pro', address: { city: 'Bern' } } }),
      eventOf({ type: 'group', groupId: 'g1' }),
    );
    const { state } = userOf(memory);
    assert.deepEqual(Buffer.from(encodeState(decodeState(state))), Buffer.from(state));
  });

  test('is refused when a newer version wrote it', () => {
    const { state } = userOf(folded(plan, eventOf()));
    const newer = Uint8Array.from(state);
    newer[0] = 2;
    assert.throws(() => decodeState(newer), NewerState);
  });

  test('is small: a counted event is 5 bytes, a membership 2', () => {
    const size = (...definitions: Parameters<typeof planOf>) =>
      userOf(folded(planOf(...definitions), eventOf())).state.length;
    const audience = (window: string, atLeast: number) => ({
      kind: 'audience' as const,
      name: 'A',
      when: { event: 'E', window, atLeast },
    });
    const without = size(audience('8d', 5));
    assert.equal(size(audience('8d', 1)) - without, 2);
    assert.ok(size(audience('8d', 5), audience('5h', 5)) - without <= 6);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeeperThan } from './depth.ts';

function nested(levels: number, wrap: (inner: unknown) => object): object {
  let value = wrap(1);
  for (let level = 1; level < levels; level++) value = wrap(value);
  return value;
}

test('objects, arrays and both by turns are counted alike', () => {
  const wraps = [
    (inner: unknown) => [0, inner],
    (inner: unknown) => ({ a: 0, b: inner }),
    (inner: unknown) => [{ b: inner }],
  ];
  const levelsOfOne = [1, 1, 2];
  for (const [index, wrap] of wraps.entries()) {
    const levels = 10 * (levelsOfOne[index] ?? 0);
    assert.equal(isDeeperThan(nested(10, wrap), levels), false);
    assert.equal(isDeeperThan(nested(10, wrap), levels - 1), true);
  }
});

test('empty objects and arrays are levels, text and null are not', () => {
  assert.equal(isDeeperThan({ a: 'text', b: null }, 1), false);
  assert.equal(isDeeperThan({ a: {} }, 1), true);
  assert.equal(isDeeperThan({ a: [] }, 1), true);
});

test('the deepest branch counts, wherever it is', () => {
  assert.equal(isDeeperThan([1, [2], [[3]], 4], 3), false);
  assert.equal(isDeeperThan([1, [2], [[3]], 4], 2), true);
});

test('a value nested half a million times is no danger to the stack', () => {
  assert.equal(
    isDeeperThan(
      nested(500_000, (inner) => [inner]),
      64,
    ),
    true,
  );
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { amountOf, compareValues, keptTrait, keptValue } from './index.ts';

suite('a profile keeps', () => {
  test('scalars, and the first 256 characters of a text', () => {
    assert.equal(keptValue('a'.repeat(1_000)), 'a'.repeat(256));
    assert.equal(keptValue(`${'a'.repeat(255)}😀`), `${'a'.repeat(255)}\ufffd`);
    assert.ok(Object.is(keptValue(-0), 0));
    assert.equal(keptValue(false), false);
    for (const value of [null, undefined, [], {}, ['a']]) assert.equal(keptValue(value), undefined);
  });

  test('objects of traits, as deep as a condition may look', () => {
    assert.deepEqual(keptTrait({ b: 1, a: { x: 'y', deep: { z: 1 } }, list: [1] }), {
      a: { x: 'y', deep: {} },
      b: 1,
      list: {},
    });
    assert.equal(keptTrait(null), null);
    assert.equal(
      Object.keys(keptTrait(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, n]))) as object).length,
      32,
    );
  });

  test('numbers that can be summed', () => {
    assert.equal(amountOf(12.5), 12.5);
    for (const value of ['12.5', 1e16, null, undefined, true]) assert.equal(amountOf(value), undefined);
  });
});

test('lists are ordered by kind, then by value', () => {
  assert.deepEqual(['b', 10, true, 'B', 9, false, 'a'].toSorted(compareValues), [9, 10, false, true, 'B', 'a', 'b']);
});

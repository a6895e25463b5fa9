import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { hasId, isIdReadable, readId } from './ids.ts';

test('every number becomes plain decimal text that means the same number', () => {
  fc.assert(
    fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
      const text = readId(value) ?? '';
      assert.match(text, /^-?\d+(\.\d+)?$/);
      assert.equal(Number(text), value + 0);
    }),
    { numRuns: 2_000 },
  );
});

test('the smallest and the largest number are written in full', () => {
  assert.equal(readId(5e-324), `0.${'0'.repeat(323)}5`);
  assert.equal(readId(Number.MAX_VALUE), `17976931348623157${'0'.repeat(292)}`);
});

test('an id is there exactly when it can be read as text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(hasId(value), readId(value) !== undefined);
      if (hasId(value)) assert.ok(isIdReadable(value));
    }),
  );
});

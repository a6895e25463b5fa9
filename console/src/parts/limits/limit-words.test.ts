import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { amount, tellLimits } from './limit-words.ts';

suite('limits in words', () => {
  test('say how many are near or reached', () => {
    const limits = (...states: ('below' | 'near' | 'reached')[]) => states.map((state) => ({ state }));
    assert.equal(tellLimits(limits('below', 'below')), 'No limit is near.');
    assert.equal(tellLimits(limits('near')), '1 limit is near.');
    assert.equal(tellLimits(limits('reached', 'near', 'near')), '1 limit is reached and 2 are near.');
    assert.equal(tellLimits(limits('reached', 'reached', 'near')), '2 limits are reached and 1 is near.');
  });

  test('write bytes as bytes and the rest as numbers', () => {
    assert.equal(amount(2_048, { unit: 'bytes' }), '2\u202fKiB');
    assert.equal(amount(100_000, { unit: 'calls a second' }), '100k');
  });
});

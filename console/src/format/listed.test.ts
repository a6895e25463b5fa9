import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listed } from './listed.ts';

test('a list of words is a part of a sentence, and a long one counts the rest', () => {
  assert.equal(listed([]), '');
  assert.equal(listed(['a']), 'a');
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c');
  assert.equal(listed(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listed, localTimes } from './sentences.ts';
import { clock, moment } from './times.ts';

test('ISO times in a sentence become local clock times', () => {
  const at = '2026-11-16T11:44:10.062Z';
  const now = Date.parse('2026-11-16T12:00:00Z');
  assert.equal(
    localTimes(`Attempt 1 at ${at}: the receiver answered 429.`, now),
    `Attempt 1 at ${clock(at)}: the receiver answered 429.`,
  );
  const old = '2026-11-01T11:44:10Z';
  assert.equal(localTimes(`Since ${old}.`, now), `Since ${moment(old, now)}.`);
});

test('a list of words is a part of a sentence, and a long one counts the rest', () => {
  assert.equal(listed([]), '');
  assert.equal(listed(['a']), 'a');
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c');
  assert.equal(listed(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more');
});

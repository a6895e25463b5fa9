import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure, failureText } from './failures.ts';

test('a failure that repeats text of others moves no cursor', () => {
  const failure = new Failure('No \u001b[2Jsource \u202e.', { todo: 'See\n\u009b1m.' });
  assert.equal(failureText(failure), 'millrace: No \\u001b[2Jsource \\u202e.\nSee\n\\u009b1m.\n');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as limits from './limits.ts';
import { problemOf, REFUSALS, REQUEST_PROBLEMS } from './refusals.ts';

test('every code says what is wrong and what to do, in two sentences', () => {
  for (const [code, message] of Object.entries({ ...REFUSALS, ...REQUEST_PROBLEMS })) {
    assert.match(message, /^[A-Za-z].+\. [A-Z].+\.$/, code);
  }
});

test('no code means two things', () => {
  const twice = Object.keys(REFUSALS).filter((code) => Object.hasOwn(REQUEST_PROBLEMS, code));
  assert.deepEqual(twice, []);
});

test('the sentences name the limits as they are', () => {
  const written = (limit: number) => limit.toLocaleString('en');
  assert.ok(REFUSALS.call_too_large.includes(written(limits.MAX_CALL_BYTES)));
  assert.ok(REFUSALS.too_many_calls.includes(written(limits.MAX_CALLS)));
  assert.ok(REFUSALS.too_deep.includes(written(limits.MAX_DEPTH)));
  assert.ok(REFUSALS.message_id_too_long.includes(written(limits.MAX_MESSAGE_ID_CHARACTERS)));
  assert.ok(REQUEST_PROBLEMS.payload_too_large.includes(written(limits.MAX_CALL_BYTES)));
  assert.ok(REQUEST_PROBLEMS.payload_too_large.includes(written(limits.MAX_BATCH_BYTES)));
});

test('a problem carries its sentence', () => {
  assert.deepEqual(problemOf('empty_batch'), { code: 'empty_batch', message: REFUSALS.empty_batch });
  assert.deepEqual(problemOf('unavailable'), { code: 'unavailable', message: REQUEST_PROBLEMS.unavailable });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countIn } from './event-count.ts';

test('a number of event streams that this version does not understand is none', () => {
  assert.deepEqual(countIn('{"streams":5,"asked":2,"more":true}'), { streams: 5, asked: 2 });
  for (const text of [
    '',
    '5',
    'null',
    '{"streams":0,"asked":2}',
    '{"streams":65,"asked":2}',
    '{"streams":"5","asked":2}',
  ]) {
    assert.equal(countIn(text), undefined, text);
  }
});

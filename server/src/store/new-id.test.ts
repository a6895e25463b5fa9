import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { newId, timeOfId, uuidV7 } from './new-id.ts';

const FORM = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

test('an id made on Node 22 has the form of one made on Node 24', () => {
  const now = Date.now();
  const older = uuidV7(now, randomBytes(10));
  const newer = randomUUIDv7().replaceAll('-', '');
  assert.match(older, FORM);
  assert.match(newer, FORM);
  assert.equal(timeOfId(`src_${older}`).getTime(), now);
  assert.ok(timeOfId(`src_${newer}`).getTime() >= now);
});

test('ids sort by the time at which they were made', () => {
  const times = [1, 1_000, Date.now(), Date.now() + 1];
  const ids = times.map((time) => uuidV7(time, randomBytes(10)));
  assert.deepEqual(ids.toSorted(), ids);
});

test('an id says what it is the id of', () => {
  assert.match(newId('dst'), /^dst_[0-9a-f]{32}$/);
});

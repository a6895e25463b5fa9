import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from './ask-control.ts';
import { hasStatus, lookWhile } from './look-again.ts';

const refused = (status: number) => new ApiError({ status, code: '', title: '', detail: '', requestId: '' });

test('a screen looks again until the thing is over', () => {
  const next = lookWhile<{ isOpen: boolean }>(2_000, ({ isOpen }) => isOpen);
  assert.equal(next({ state: { data: undefined, error: null } }), 2_000);
  assert.equal(next({ state: { data: { isOpen: true }, error: null } }), 2_000);
  assert.equal(next({ state: { data: { isOpen: false }, error: null } }), false);
});

test('a thing that is not there ends the looking, and a lost connection does not', () => {
  const next = lookWhile<{ isOpen: boolean }>(2_000, ({ isOpen }) => isOpen);
  const data = { isOpen: true };
  for (const status of [403, 404]) {
    assert.equal(next({ state: { data: undefined, error: refused(status) } }), false);
    assert.equal(next({ state: { data, error: refused(status) } }), false);
  }
  for (const status of [0, 429, 503]) assert.equal(next({ state: { data, error: refused(status) } }), 2_000);
});

test('only a refusal of the API has a status', () => {
  assert.equal(hasStatus(refused(429), 429), true);
  assert.equal(hasStatus(refused(404), 429), false);
  assert.equal(hasStatus(new Error('429'), 429), false);
  assert.equal(hasStatus(null, 429), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOfAttempt, targetIndexOf } from './rebuilt.ts';

test('a URL that is no longer a target has no place among the targets', () => {
  const targets = [{ url: 'https://a.example' }, { url: 'https://b.example' }];
  assert.equal(targetIndexOf(targets, 'https://b.example'), 1);
  assert.equal(targetIndexOf(targets, 'https://old.example'), undefined);
  assert.equal(targetIndexOf(targets, undefined), 0);
});

test('a rebuilt request belongs to the attempt of its time, not only of its number', () => {
  const rebuilt = { at: '2026-11-17T20:00:00.000Z' };
  assert.ok(isOfAttempt(rebuilt, { at: '2026-11-17T20:00:00Z' }));
  assert.ok(!isOfAttempt(rebuilt, { at: '2026-11-17T10:00:00.000Z' }));
});

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { localSentence } from './sentences.ts';
import { clock } from './times.ts';

suite('sentences of the API', () => {
  const at = '2026-11-16T11:38:43.591Z';
  const now = Date.parse(at) + 60_000;

  test('show local clock times', () => {
    assert.equal(localSentence(`Failing since ${at} (503).`, now), `Failing since ${clock(at)} (503).`);
    assert.equal(localSentence('It never failed.', now), 'It never failed.');
  });

  test('keep an example of how to write a time', () => {
    assert.equal(localSentence(`Send ISO 8601, such as ${at}.`, now), `Send ISO 8601, such as ${at}.`);
  });

  test('keep what only looks like a time', () => {
    assert.equal(localSentence('2026-99-99T11:38:43Z', now), '2026-99-99T11:38:43Z');
  });

  test('have commas in counts and nowhere else', () => {
    assert.equal(localSentence('12345 deliveries wait on port 12345.', now), '12,345 deliveries wait on port 12345.');
  });
});

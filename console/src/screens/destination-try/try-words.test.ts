import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTab, trySentence } from './try-words.ts';

test('an unknown tab in the URL is the first one', () => {
  assert.equal(readTab('preview'), 'preview');
  assert.equal(readTab('nonsense'), 'test');
  assert.equal(readTab(undefined), 'test');
});

test('the sentence says what reaches the receiver', () => {
  assert.match(trySentence({ enabled: false, paused: true }), /disabled/);
  assert.match(trySentence({ enabled: true, paused: true }), /paused/);
  assert.match(trySentence({ enabled: true, paused: false }), /enabled/);
});

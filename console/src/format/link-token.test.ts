import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { tokenOf } from './link-token.ts';

suite('the token of a link', () => {
  test('is read from a fragment, a whole link, or given alone', () => {
    const forms = ['#token=mlr_a-1', 'http://localhost:8081/setup#token=mlr_a-1', ' mlr_a-1\n'];
    assert.deepEqual(forms.map(tokenOf), ['mlr_a-1', 'mlr_a-1', 'mlr_a-1']);
  });

  test('is empty when there is none', () => {
    assert.deepEqual(['', '#', 'https://example.com/setup', 'two words'].map(tokenOf), ['', '', '', '']);
  });
});

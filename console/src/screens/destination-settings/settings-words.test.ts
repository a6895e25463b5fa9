import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingFields } from '../../parts/destination/setting-fields.ts';
import { changedWords, stateOf } from './settings-words.ts';

test('a disabled destination is disabled, also when it is paused', () => {
  assert.equal(stateOf({ enabled: false, paused: true }).words, 'Disabled');
  assert.equal(stateOf({ enabled: true, paused: true }).words, 'Paused');
  assert.equal(stateOf({ enabled: true, paused: false }).words, 'Enabled');
});

test('changes are listed by name', () => {
  const fields = settingFields({ properties: { maxPerSecond: { type: 'integer' } } });
  assert.equal(changedWords({ name: 'x' }, fields), 'name');
  assert.equal(
    changedWords({ name: 'x', filters: [], settings: { targets: [], maxPerSecond: null } }, fields),
    'name, targets, rate limit and filters',
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './read-settings.ts';

test('settings are told in words, with their limits and defaults, and with those of their items', () => {
  const schema = {
    required: ['targets'],
    properties: {
      targets: {
        type: 'array',
        minItems: 1,
        maxItems: 5,
        items: {
          type: 'object',
          required: ['url'],
          properties: {
            url: { type: 'string', minLength: 1, maxLength: 2_000 },
            headers: { type: 'object', maxProperties: 20, patternProperties: { '^.*$': { secret: true } } },
          },
        },
      },
      sharedSecret: { type: 'string', minLength: 8, maxLength: 500, secret: true },
      successPolicy: { enum: ['any', 'all'], default: 'any' },
    },
  };
  assert.deepEqual(readSettings(schema), [
    { name: 'targets', isRequired: true, isSecret: false, rule: 'a list of 1 to 5' },
    { name: 'targets[].url', isRequired: true, isSecret: false, rule: 'text of 1 to 2,000 characters' },
    { name: 'targets[].headers', isRequired: false, isSecret: true, rule: 'names and values, at most 20' },
    { name: 'sharedSecret', isRequired: false, isSecret: true, rule: 'text of 8 to 500 characters' },
    { name: 'successPolicy', isRequired: false, isSecret: false, rule: 'any or all; any unless set' },
  ]);
});

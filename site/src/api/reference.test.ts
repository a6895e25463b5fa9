import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { exampleValue } from './example-value.ts';
import { type OpenApi, readOpenApi } from './openapi.ts';
import { referencePage } from './reference-page.ts';
import { fieldsOf } from './schema-fields.ts';

const api: OpenApi = {
  info: { title: '', version: '', description: '' },
  tags: [],
  paths: {},
  components: {
    schemas: {
      Target: {
        type: 'object',
        required: ['url'],
        properties: { url: { type: 'string', format: 'uri' }, weight: { type: 'integer', minimum: 1, default: 1 } },
      },
    },
    parameters: {},
    responses: {},
  },
};
const schema = {
  type: 'object',
  required: ['targets'],
  properties: {
    targets: { type: 'array', items: { $ref: '#/components/schemas/Target' } },
    mode: { anyOf: [{ const: 'all' }, { const: 'some' }, { type: 'null' }] },
  },
};

suite('the API reference', () => {
  test('lists fields by their path, through references and lists', () => {
    assert.deepEqual(
      fieldsOf(api, schema).map(({ path, type, isRequired }) => [path, type, isRequired]),
      [
        ['targets', 'list of object', true],
        ['targets[].url', 'string, uri', true],
        ['targets[].weight', 'integer', false],
        ['mode', '"all" or "some" or null', false],
      ],
    );
  });

  test('shows a request with the fields that are demanded, and an answer with all', () => {
    const url = 'https://example.com/hook';
    assert.deepEqual(exampleValue(api, schema, true), { targets: [{ url }] });
    assert.deepEqual(exampleValue(api, schema, false), { targets: [{ url, weight: 1 }], mode: 'all' });
  });

  test('has a section for each endpoint, and no text that Vue or HTML would take for its own', () => {
    const real = readOpenApi();
    for (const { name } of real.tags) {
      const page = referencePage(real, name);
      const code = /```[\s\S]*?```|`[^`\n]*`|<[^>]*>/g;
      assert.match(page, /^## .+ \{#\w+\}$/m, name);
      assert.doesNotMatch(page.replaceAll(code, ''), /<|\{\{/, name);
    }
  });
});

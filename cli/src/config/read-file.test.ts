import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG } from '@millrace/contract/control';
import { Failure } from '../output/failures.ts';
import type { ExitName } from '../output/exit-codes.ts';
import { readConfigFile } from './read-file.ts';
import { referenceFor } from './secrets.ts';

const SCHEMAS = new Map(CATALOG.map(({ name, settings }) => [name, settings]));
const FILE = `version: 1
sources:
  web:
    destinations:
      orders:
        paused: true
        settings:
          targets:
            - url: https://example.com
              headers: { X-Team: "\${env:TEAM}" }
          sharedSecret: \${env:SHOP_SECRET}
`;

test('what a file does not say has its default', () => {
  const { web } = readConfigFile(FILE, SCHEMAS).sources;
  assert.deepEqual(
    { ...web, destinations: {} },
    { enabled: true, rateLimitPerSecond: null, writeKeys: [], blockedEvents: [], destinations: {} },
  );
  const orders = web?.destinations['orders'];
  const others = { catalog: 'Webhooks', enabled: true, paused: true, filters: [] };
  assert.deepEqual({ ...orders, settings: {}, written: {} }, { ...others, settings: {}, written: {} });
  assert.equal(orders?.settings['sharedSecret'], '${env:SHOP_SECRET}');
});

test('a secret in clear is refused, and never repeated', () => {
  refuses(
    FILE.replace('${env:SHOP_SECRET}', 'hunter2'),
    'refused',
    /orders\.settings\.sharedSecret holds a secret in clear/,
  );
  refuses(FILE.replace('${env:TEAM}', 'hunter2'), 'refused', /targets\.0\.headers\.X-Team holds a secret in clear/);
});

test('a mistake in a file is told with its place', () => {
  refuses(FILE.replace('paused', 'pauzed'), 'usage', /sources\.web\.destinations\.orders has the unknown field pauzed/);
  refuses(`${FILE}\n  - :`, 'usage', /not valid YAML: .*line 12/);
  refuses(FILE.replace('version: 1', 'version: 2'), 'usage', /has version 2/);
  refuses(FILE.replace('paused: true', 'paused: perhaps'), 'usage', /orders\.paused is neither true nor false/);
  refuses(FILE.replace('paused: true', 'catalog: Faxes'), 'usage', /orders\.catalog is no kind of destination/);
  refuses(
    FILE.replace('https://example.com', 'https://${env:NOT_SET_ANYWHERE}/x'),
    'usage',
    /refers to NOT_SET_ANYWHERE/,
  );
  refuses('- a list', 'usage', /The file is no mapping/);
});

test('a reference is named after the place of its secret', () => {
  assert.equal(referenceFor('Web shop', 'orders', '/sharedSecret'), '${env:WEB_SHOP_ORDERS_SHARED_SECRET}');
  assert.equal(referenceFor('web', 'crm', '/targets/1/headers/X-Api-Key'), '${env:WEB_CRM_1_HEADERS_X_API_KEY}');
  assert.equal(referenceFor('2nd shop', 'crm', '/sharedSecret'), '${env:_2ND_SHOP_CRM_SHARED_SECRET}');
});

function refuses(text: string, exit: ExitName, says: RegExp): void {
  assert.throws(
    () => readConfigFile(text, SCHEMAS),
    (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.exit, exit);
      assert.match(error.message, says);
      assert.doesNotMatch(`${error.message} ${error.todo}`, /hunter2/);
      return true;
    },
  );
}

import assert from 'node:assert/strict';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { CATALOG } from '@millrace/contract/control';
import type { CurrentWorkspace } from './model.ts';
import { planChanges } from './plan.ts';
import { readConfigFile } from './read-file.ts';
import { planDocument } from './tell-plan.ts';
import { toYaml } from './write-file.ts';

const SCHEMAS = new Map(CATALOG.map(({ name, settings }) => [name, settings]));
const TOKEN = 'the token of this shell';
const OPTIONS = { prune: true, setSecrets: false };

function workspace(url: string, source = 'web'): CurrentWorkspace {
  const settings = { targets: [{ url }], sharedSecret: { set: true } };
  const config = { catalog: 'Webhooks', enabled: true, paused: false, filters: [], settings };
  return {
    schemas: SCHEMAS,
    definitions: new Map(),
    sources: new Map([
      [
        source,
        {
          id: 'src_1',
          config: { enabled: true, rateLimitPerSecond: null, writeKeys: [], blockedEvents: [] },
          destinations: new Map([['orders', { id: 'dst_1', config }]]),
        },
      ],
    ]),
  };
}

before(() => {
  process.env['MILLRACE_TEST_TOKEN'] = TOKEN;
});
after(() => {
  delete process.env['MILLRACE_TEST_TOKEN'];
});

for (const text of [
  '${env:MILLRACE_TEST_TOKEN}',
  '$${env:MILLRACE_TEST_TOKEN}',
  '$$${',
  '${',
  '$$',
  '${keep}',
  '$${x}',
]) {
  test(`${text} in a URL of the workspace is text, through export and apply`, () => {
    const current = workspace(`https://a.example/?t=${text}`);
    const wanted = readConfigFile(toYaml(current), SCHEMAS);
    const settings = wanted.sources['web']?.destinations['orders']?.settings;
    assert.deepEqual(settings?.['targets'], [{ url: `https://a.example/?t=${text}` }]);
    assert.deepEqual(planChanges(wanted, current, OPTIONS), { changes: [], leftAlone: [] });
  });
}

test('a plan shows a reference as the file writes it, and never its value', () => {
  const url = 'https://a.example/?t=${env:MILLRACE_TEST_TOKEN}';
  const file = toYaml(workspace(url)).replace('$${', '${');
  for (const current of [
    workspace(`https://a.example/?t=${TOKEN} of yesterday`),
    workspace('https://b.example', 'other'),
  ]) {
    const plan = planChanges(readConfigFile(file, SCHEMAS), current, OPTIONS);
    const told = JSON.stringify(planDocument(plan, false));
    assert.ok(told.includes(url), told);
    assert.ok(!told.includes(TOKEN), told);
    const body = plan.changes.map((change) => ('settings' in change ? change.settings.body : {}));
    assert.ok(JSON.stringify(body).includes(TOKEN));
  }
});

test('a source called constructor that is not in the file is one to prune', () => {
  const plan = planChanges({ sources: {} }, workspace('https://a.example', 'constructor'), OPTIONS);
  assert.deepEqual(
    plan.changes.map((change) => [change.action, 'source' in change && change.source]),
    [['delete', 'constructor']],
  );
});

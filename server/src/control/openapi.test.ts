import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openApiDocument } from './openapi.ts';

const ROOT_DIR = join(import.meta.dirname, '../../..');
const FILE = join(ROOT_DIR, 'docs/use/openapi.json');

suite('docs/use/openapi.json', () => {
  test('is what the endpoints say: `node server/src/control/openapi.ts > docs/use/openapi.json`', () => {
    const fresh: unknown = JSON.parse(JSON.stringify(openApiDocument()));
    assert.deepEqual(JSON.parse(readFileSync(FILE, 'utf8')), fresh);
  });

  test('has nothing that the linter would change', () => {
    const linter = join(ROOT_DIR, 'node_modules/@redocly/cli/bin/cli.js');
    const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const done = spawnSync(process.execPath, [linter, 'lint', '--format=json', FILE], { encoding: 'utf8', env });
    const { totals, problems } = JSON.parse(done.stdout) as { totals: Record<string, number>; problems: object[] };
    assert.equal(done.status, 0, done.stderr);
    assert.deepEqual([totals['errors'], totals['warnings']], [0, 0], JSON.stringify(problems, null, 2));
  });
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT_DIR = resolve(import.meta.dirname, '../..');

test('every query that a page shows is one that Prometheus understands', () => {
  const pages = globSync('docs/**/*.md', { cwd: ROOT_DIR }).map((page) => readFileSync(join(ROOT_DIR, page), 'utf8'));
  const queries = pages.flatMap((text) =>
    [...text.matchAll(/^```promql\n(.*?)^```$/gms)].map(([, query = '']) => query),
  );
  assert.ok(queries.length > 10);
  const rules = queries.map((expr, at) => ({ record: `docs:query:${at}`, expr }));
  const dir = mkdtempSync(join(tmpdir(), 'millrace-queries-'));
  try {
    const file = join(dir, 'rules.yml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'docs', rules }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    assert.equal(status, 0, `promtool (from \`bash e2e/get-clients\`): ${stdout}${stderr}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

/** The time that a process may take to end is one number in the code. Units, compose files, chart and docs have to give as much. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { END_MS, STOP_WITHIN_MS } from '../server/src/limits/stop-times.ts';
import { DEFAULTS } from '../server/src/read-setting.ts';
import { ROOT_DIR } from './project-files.ts';

const read = (file: string) => readFileSync(join(ROOT_DIR, file), 'utf8');
const numberIn = (file: string, pattern: RegExp) => Number(pattern.exec(read(file))?.[1]);
const seconds = STOP_WITHIN_MS / 1_000;

suite('the time to end', () => {
  test('is given by the systemd unit, with the drain', () => {
    const given = numberIn('deploy/systemd/millrace@.service', /^TimeoutStopSec=(\d+)$/m) * 1_000;
    assert.ok(given >= Number(DEFAULTS.MILLRACE_DRAIN_MS) + STOP_WITHIN_MS, String(given));
  });

  test('is given by the compose files, with the drain', () => {
    const { services } = parse(read('deploy/compose/common.yaml')) as {
      services: Record<string, { stop_grace_period: string }>;
    };
    const drainMs = numberIn('deploy/compose/defaults.env', /^MILLRACE_DRAIN_MS=(\d+)$/m);
    assert.ok(parseInt(services['millrace']?.stop_grace_period ?? '') * 1_000 >= drainMs + STOP_WITHIN_MS);
  });

  test('is demanded by the chart, with the drain', () => {
    assert.equal(numberIn('deploy/helm/millrace/templates/_helpers.tpl', /\(add (\d+) \(div \(int/), seconds);
  });

  test('is what the docs tell', () => {
    const ends = `\`MILLRACE_DRAIN_MS\` and ${seconds} seconds`;
    for (const page of ['settings', 'scaling', 'production-checklist'])
      assert.ok(read(`docs/run/${page}.md`).includes(ends), `docs/run/${page}.md: ${ends}`);
    assert.ok(read('docs/run/settings.md').includes(`ends within ${END_MS / 1_000} seconds`));
  });
});

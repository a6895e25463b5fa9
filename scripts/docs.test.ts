/** The lists in the documents are held against the code: neither may grow without the other. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { REFUSALS, REQUEST_PROBLEMS } from '@millrace/contract';
import { problemAnswer } from '../server/src/collect/answer.ts';
import { DEFAULTS } from '../server/src/read-setting.ts';
import { PERMISSION_NAMES } from '../server/src/control/access/permissions.ts';
import { METRICS } from '../server/src/metrics/declared.ts';
import type { Declared } from '../server/src/metrics/declared-type.ts';
import { ApiProblem, PROBLEM_CODES, problemDocument } from '../server/src/control/problems/problems.ts';
import { RETRY_DELAYS_MS } from '../server/src/deliver/attempt/retry-schedule.ts';

const doc = (name: string) => readFileSync(join(import.meta.dirname, '../docs', name), 'utf8');

suite('the documents', () => {
  test('list every setting with its default', () => {
    const rows = tableRows(doc('run/settings.md'), /^MILLRACE_/);
    assert.deepEqual(
      rows.map(([name = '', value = '']) => [name, value]),
      Object.entries(DEFAULTS),
    );
  });

  test('name tests that exist, where the threat model says what shows a claim', () => {
    const named = [...doc('run/threat-model.md').matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, name = '']) => name);
    assert.ok(named.length > 20);
    for (const name of new Set(named)) assert.ok(existsSync(join(import.meta.dirname, '../server', name)), name);
  });

  test('list every refusal of a call', () => {
    const codes = tableRows(doc('use/collect-api.md'), /^[a-z_]+$/).map(([code = '']) => code);
    assert.deepEqual(new Set(codes.filter((code) => code in REFUSALS)), new Set(Object.keys(REFUSALS)));
  });

  test('list every problem of a request with its status', () => {
    const rows = tableRows(doc('use/collect-api.md'), /^[a-z_]+$/);
    for (const code of Object.keys(REQUEST_PROBLEMS) as (keyof typeof REQUEST_PROBLEMS)[]) {
      const row = rows.find(([name]) => name === code);
      assert.equal(row?.[1], String(problemAnswer(code).status), code);
    }
  });

  test('list every problem of the control API with its status', () => {
    const rows = tableRows(doc('use/control-api.md'), /^[a-z_]+$/).filter(([, status = '']) => /^\d+$/.test(status));
    const problems = PROBLEM_CODES.map((code) => [code, String(problemDocument(new ApiProblem(code), '').status)]);
    assert.deepEqual(
      rows.map(([code, status]) => [code, status]),
      problems,
    );
  });

  test('list every permission that a token can be narrowed to', () => {
    const [sentence = ''] = /^The permissions that `scopes` takes: .*?\.$/ms.exec(doc('use/control-api.md')) ?? [];
    assert.deepEqual(
      [...sentence.matchAll(/`([\w-]+:\w+)`/g)].map(([, name]) => name),
      PERMISSION_NAMES,
    );
  });

  test('list the retry times', () => {
    const rows = tableRows(doc('inside/delivery-states.md'), /^\d( and later)?$/);
    const waits = rows.map(([, wait = '']) => wait);
    assert.deepEqual(
      waits,
      RETRY_DELAYS_MS.map((ms) => (ms < 60_000 ? `${ms / 1_000} s` : `${ms / 60_000} min`)),
    );
  });

  test('list every metric with its kind, its label and what it means', () => {
    const rows = tableRows(doc('run/metrics.md'), /^millrace_/);
    const declared = Object.entries<Declared>(METRICS);
    assert.deepEqual(
      rows,
      declared.map(([name, { kind, label = '', help }]) => [name, kind, label, help]),
    );
  });

  test('show the control API only with code that is run', () => {
    const dir = join(import.meta.dirname, '../examples/api');
    const files = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'));
    const pages = doc('use/control-api.md') + doc('use/filters.md') + doc('use/trying.md');
    const shown = [...pages.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code);
    assert.deepEqual(shown.toSorted(), files.toSorted());
  });
});

/** Cells of the tables' rows whose first cell, taken out of its backticks, fits. */
function tableRows(text: string, first: RegExp): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
    .filter(([cell = '']) => first.test(cell));
}

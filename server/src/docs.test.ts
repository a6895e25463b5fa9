/** The lists in the documents are held against the code: neither may grow without the other. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { REFUSALS, REQUEST_PROBLEMS } from '@millrace/contract';
import { problemAnswer } from './collect/answer.ts';
import { DEFAULTS } from './config.ts';

const doc = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');

suite('the documents', () => {
  test('list every setting with its default', () => {
    const rows = tableRows(doc('operating.md'), /^MILLRACE_/);
    assert.deepEqual(
      rows.map(([name = '', value = '']) => [name, value]),
      Object.entries(DEFAULTS),
    );
  });

  test('list every refusal of a call', () => {
    const codes = tableRows(doc('collect-api.md'), /^[a-z_]+$/).map(([code = '']) => code);
    assert.deepEqual(new Set(codes.filter((code) => code in REFUSALS)), new Set(Object.keys(REFUSALS)));
  });

  test('list every problem of a request with its status', () => {
    const rows = tableRows(doc('collect-api.md'), /^[a-z_]+$/);
    for (const code of Object.keys(REQUEST_PROBLEMS) as (keyof typeof REQUEST_PROBLEMS)[]) {
      const row = rows.find(([name]) => name === code);
      assert.equal(row?.[1], String(problemAnswer(code).status), code);
    }
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

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MUTANTS } from '../../../testing/compute/mutants.ts';

/** `node server/testing/compute/check-mutants.ts` runs histories against each of them. */
test('each mutant changes one place of the fold as it is now', () => {
  const sources = new Map<string, string>();
  for (const { file, find, name, replace } of MUTANTS) {
    const source = sources.get(file) ?? readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    sources.set(file, source);
    assert.equal(source.split(find).length, 2, `${name}: ${file} has the place once`);
    assert.notEqual(find, replace);
  }
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
});

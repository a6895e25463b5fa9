/** The page of the faults is held against the catalog and the reports of the last runs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { FAULTS } from '../faults/src/catalog.ts';
import { readReports } from '../faults/src/keep-reports.ts';
import { PLANTED_BUGS } from '../faults/src/planted/all-bugs.ts';
import { FAULTS_PAGE, withFaultTables } from './print-faults.ts';
import { ROOT_DIR } from './project-files.ts';

suite('the page of the faults', () => {
  const page = readFileSync(join(ROOT_DIR, FAULTS_PAGE), 'utf8');

  test('has the tables of the catalog: `node scripts/print-faults.ts --write`', () => {
    assert.equal(page, withFaultTables(page));
  });

  test('keeps everything else as it is when its tables are printed', () => {
    const sections = (text: string) => text.split(/^## /m);
    const printed = sections(withFaultTables(page, { faults: {}, planted: {} }));
    const changed = sections(page).filter((section, index) => section !== printed[index]);
    assert.deepEqual(
      changed.map((section) => section.split('\n')[0]),
      ['Run them', 'Planted bugs'],
    );
  });

  test('has a result of every fault and every bug: run it with --write', () => {
    const { faults, planted } = readReports();
    const missing = [
      ...[...FAULTS.keys()].filter((name) => faults[name] === undefined),
      ...PLANTED_BUGS.map(({ name }) => name).filter((name) => planted[name] === undefined),
    ];
    assert.deepEqual(missing, []);
  });

  test('has no result of a fault or bug that is gone, and none that is bad', () => {
    const { faults, planted } = readReports();
    const bugs = new Set(PLANTED_BUGS.map(({ name }) => name));
    assert.deepEqual(
      Object.entries(faults).filter(([name, { ok }]) => !FAULTS.has(name) || !ok),
      [],
    );
    assert.deepEqual(
      Object.entries(planted).filter(([name, { result }]) => !bugs.has(name) || result !== 'caught'),
      [],
    );
  });
});

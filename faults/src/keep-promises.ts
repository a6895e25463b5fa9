import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FAULTS } from './catalog.ts';
import type { FaultEntry } from './catalog/fault-entry.ts';
import { runFault } from './run-fault.ts';

const SEED = 1;
const RUN_WITHIN_MS = 120_000;

type Meant = { isMeant(entry: FaultEntry): boolean; sideBySide: number };

/** One test for each of these faults, at the size of CI, so many of them side by side. */
export function testFaults({ isMeant, sideBySide }: Meant): void {
  suite('the product under each fault', { concurrency: sideBySide }, () => {
    // The last ones of the catalog take the longest: they begin first, so that none of them runs alone at the end.
    for (const [name, entry] of [...FAULTS].toReversed()) if (isMeant(entry)) testFault(name, entry);
  });
}

function testFault(name: string, { run: fault, promise }: FaultEntry): void {
  test(`${name}: ${promise}`, { timeout: 2 * RUN_WITHIN_MS }, async (t) => {
    const runOnce = async () => {
      const report = await runFault({ name, fault, seed: SEED, isFull: false }, (line) => t.diagnostic(line));
      t.diagnostic(JSON.stringify(report));
      assert.deepEqual(report.failures, []);
      return report.late;
    };
    const late = await runOnce();
    // CI shares its machine, and one stall of it is enough to be late. A product that is slow is slow twice.
    if (late.length > 0) assert.deepEqual(await runOnce(), []);
  });
}

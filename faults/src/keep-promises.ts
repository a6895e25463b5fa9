import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS } from './catalog.ts';
import type { FaultEntry } from './catalog/fault-entry.ts';
import { runFault } from './run-fault.ts';

const SEED = 1;
const RUN_WITHIN_MS = 120_000;

/** One test for each of these faults, at the size of CI. */
export function testFaults(isMeant: (entry: FaultEntry) => boolean): void {
  for (const [name, entry] of FAULTS) {
    if (!isMeant(entry)) continue;
    test(`${name}: ${entry.promise}`, { timeout: 2 * RUN_WITHIN_MS }, async (t) => {
      const runOnce = async () => {
        const report = await runFault({ name, fault: entry.run, seed: SEED, isFull: false }, (line) =>
          t.diagnostic(line),
        );
        t.diagnostic(JSON.stringify(report));
        assert.deepEqual(report.failures, []);
        return report.late;
      };
      const late = await runOnce();
      // CI shares its machine, and one stall of it is enough to be late. A product that is slow is slow twice.
      if (late.length > 0) assert.deepEqual(await runOnce(), []);
    });
  }
}

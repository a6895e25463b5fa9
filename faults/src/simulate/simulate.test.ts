import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { runSeed } from './run-seed.ts';
import { PLANTS, type Plant } from './plants.ts';
import { simulateFor } from './simulate-for.ts';

const SHORT_MS = 60_000;

suite('a simulated installation', () => {
  test('delivers each event once while nothing fails', async () => {
    const report = await runSeed({ seed: 1, kinds: [], loadMs: SHORT_MS });
    assert.deepEqual(report.violations, []);
    assert.ok(report.accepted > 0);
    assert.equal(report.repeated, 0);
  });

  test('loses nothing while everything fails, for some seeds', async () => {
    const result = await simulateFor({ seed: 1, runs: 3, wallMs: 600_000 }, () => undefined);
    assert.deepEqual(result.failed, undefined);
    assert.equal(result.interleavings, 3);
  });

  test('is the same for the same seed, and another one for another', async () => {
    const traces: string[] = [];
    for (const seed of [7, 7, 8]) traces.push((await runSeed({ seed, loadMs: SHORT_MS })).trace);
    assert.equal(traces[0], traces[1]);
    assert.notEqual(traces[0], traces[2]);
  });
});

suite('a planted bug is noticed:', () => {
  for (const plant of Object.keys(PLANTS) as Plant[]) {
    test(plant, async () => {
      const result = await simulateFor({ seed: 1, plant, runs: 10, wallMs: 600_000 }, () => undefined);
      assert.equal(result.ok, false);
    });
  }
});

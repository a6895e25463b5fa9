import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { PLANTS, type Plant } from './plants.ts';
import { runSeed } from './run-seed.ts';
import { shrink } from './shrink.ts';
import { simulateFor } from './simulate-for.ts';

const SHORT_MS = 30_000;

suite('a simulated installation', () => {
  test('delivers each event once while nothing fails', async () => {
    const report = await runSeed({ seed: 1, kinds: [], loadMs: SHORT_MS });
    assert.deepEqual(report.violations, []);
    assert.ok(report.accepted > 0);
    assert.equal(report.repeated, 0);
  });

  test('breaks no promise while everything fails, for some seeds', async () => {
    const result = await simulateFor({ seed: 103, runs: 3, wallMs: 600_000, loadMs: SHORT_MS }, () => undefined);
    assert.deepEqual(result.failed, undefined);
    assert.equal(result.runs, 3);
    assert.equal(result.interleavings, 3);
  });

  test('repeats nothing while only receivers fail and settings change: batches, order and a backlog of hundreds of groups', async () => {
    const report = await runSeed({ seed: 2_116, kinds: ['receivers', 'config'] });
    assert.deepEqual(report.violations, []);
    assert.equal(report.repeated, 0);
  });

  test('is the same to the last event for the same seed, whatever ran before, and another one for another', async () => {
    const [first, other, again] = [
      await runSeed({ seed: 7, loadMs: SHORT_MS }),
      await runSeed({ seed: 8, loadMs: SHORT_MS }),
      await runSeed({ seed: 7, loadMs: SHORT_MS }),
    ];
    assert.deepEqual(again, first);
    assert.notEqual(other.trace, first.trace);
  });
});

/** Kinds of faults with which each planted bug does harm, and the first violation that tells of it. */
const NOTICED: Readonly<Record<Plant, { kinds: string[]; as: string }>> = {
  'ack-before-park': { kinds: ['deliver-crash', 'receivers'], as: 'lost' },
  'purge-before-append': { kinds: ['deliver-crash', 'receivers', 'config'], as: 'lost' },
  'ticket-not-renewed': { kinds: ['receivers', 'config'], as: 'two holders' },
};
/** The first one or two show each bug; a change of the product gives every seed another run. */
const MOST_SEEDS = 12;

async function isNoticed(plant: Plant): Promise<boolean> {
  const { kinds, as } = NOTICED[plant];
  for (let seed = 1; seed <= MOST_SEEDS; seed += 1) {
    const { violations } = await runSeed({ seed, kinds, plant, loadMs: 2 * SHORT_MS });
    if (violations.some(({ kind }) => kind === as)) return true;
  }
  return false;
}

suite('a planted bug is noticed:', () => {
  for (const plant of Object.keys(PLANTS) as Plant[]) test(plant, async () => assert.ok(await isNoticed(plant)));
});

test('a run that fails is repeated without the kinds of faults that it does not need', async () => {
  const report = { ...(await runSeed({ seed: 1, kinds: [], loadMs: 1_000 })), kinds: ['a', 'b', 'c'] };
  const violations = [{ kind: 'lost', at: 0, about: 'of a test' }];
  const rerun = async (kinds: readonly string[]) => ({
    ...report,
    kinds,
    violations: kinds.includes('b') ? violations : [],
  });
  assert.deepEqual((await shrink({ ...report, violations }, rerun)).kinds, ['b']);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { judgeDrained, unansweredProblems } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { judgeRecord } from '../deliver/judge-record.ts';
import { openRecorderScene, type RecorderScene } from '../deliver/open-recorder-scene.ts';
import { readWholeRecord } from '../deliver/read-whole-record.ts';
import { CALLS_PER_BATCH } from '../inject/kill-deliver.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { followSchedule, planSchedule } from '../schedule.ts';
import type { Load } from '../start-load.ts';
import { judgeGrowth } from './judge-growth.ts';
import type { Sample } from './series.ts';
import { strikeOnce } from './strike.ts';
import { takeSample } from './take-sample.ts';

const MINUTE_MS = 60_000;
const SAMPLE_EVERY_MS = 5_000;
/** One a minute. */
const STRIKE_EVERY_MS = [30_000, 90_000] as const;
const QUIET_END_MS = 20_000;
/** With ten calls a batch and two destinations a source: 100 deliveries a second. */
const BATCHES_A_SECOND = 5;
const DRAINED_WITHIN_MS = 300_000;

/**
 * An installation of its own, as people run it: three NATS servers, PostgreSQL, collect, two deliver processes and two that record. Steady load
 * and a trouble a minute; in the end everything drains, nothing is lost, and the record equals the receivers.
 */
export async function runSlice(run: FaultRun, minutes: number, keep: (sample: Sample) => void): Promise<Findings> {
  const shape = { nodes: 3, recorders: 2, outcomeStreams: 2, roles: ['collect', 'deliver', 'deliver'] } as const;
  await using whole = await openRecorderScene(run, shape);
  const load = whole.scene.load({ batchesPerSecond: BATCHES_A_SECOND, sizes: [CALLS_PER_BATCH, CALLS_PER_BATCH] });
  const samples: Sample[] = [];
  const stopSampling = sampleAlways(whole, (sample) => {
    samples.push(sample);
    keep(sample);
  });
  const strikes: Strike[] = [];
  const times = { lengthMs: minutes * MINUTE_MS, everyMs: STRIKE_EVERY_MS, quietEndMs: QUIET_END_MS };
  try {
    await followSchedule(planSchedule(run.random, times), async () => {
      strikes.push(await strikeOnce(whole, run.random));
      const { what, from, until, inFlight } = strikes.at(-1) ?? { what: '', from: 0, until: 0, inFlight: 0 };
      run.say(`${what}, over after ${Math.round((until - from) / 1_000)} s; ${inFlight} deliveries were under way`);
    });
  } finally {
    await stopSampling();
  }
  const found = await finishSlice(whole, load, strikes);
  const growth = judgeGrowth(samples, minutes);
  const grown = growth.filter(({ hasGrown }) => hasGrown);
  return joinFindings(found, {
    failures: grown.map(({ series, early, late }) => `${series} grew from ${early} to ${late}`),
    figures: { minutes, strikes: strikes.length, kinds: countKinds(strikes), growth },
  });
}

function sampleAlways(whole: RecorderScene, keep: (sample: Sample) => void): () => Promise<void> {
  const { scene, control } = whole;
  const startedAt = performance.now();
  const stop = new AbortController();
  const pids = () => ({ collect: scene.collect.pid(), deliver: scene.delivers[1]?.pid(), control: control.pid() });
  const sampling = (async () => {
    while (!stop.signal.aborted) {
      const minute = Math.round(((performance.now() - startedAt) / MINUTE_MS) * 1_000) / 1_000;
      keep({ minute, values: await takeSample(whole, pids()) });
      await sleep(SAMPLE_EVERY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return async () => {
    stop.abort();
    await sampling;
  };
}

/** Deliver processes died, so that attempts may be missing in the record; deliveries may not. */
async function finishSlice(whole: RecorderScene, load: Load, strikes: readonly Strike[]): Promise<Findings> {
  const { scene } = whole;
  const { oracle, arrivals } = scene;
  await load.stop();
  await scene.receivers.restDice();
  const drainedMs = await scene.drained(DRAINED_WITHIN_MS);
  const { verdict } = await judgeDrained(scene, strikes);
  const record = judgeRecord(await readWholeRecord(whole), arrivals);
  const failures = unansweredProblems(oracle);
  const { each: _, ...figures } = verdict.figures;
  return joinFindings({ ...verdict, figures }, record, { failures, figures: { drainedMs: Math.round(drainedMs) } });
}

function countKinds(strikes: readonly Strike[]): Record<string, number> {
  const kinds = Map.groupBy(strikes, ({ what }) => what);
  return Object.fromEntries([...kinds].map(([what, all]) => [what, all.length]));
}

import { loadavg } from 'node:os';
import { connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { type OutcomesWaiting, readOutcomes } from '../deliver/ask-engine.ts';
import { judgeDrained } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { type LatencyBound, NOISY, STRICT } from '../deliver/judge-latency.ts';
import { judgeWholeRecord, type RecordTruth } from '../deliver/judge-whole-record.ts';
import { openRecorderScene, type RecorderScene } from '../deliver/open-recorder-scene.ts';
import { readWholeRecord } from '../deliver/read-whole-record.ts';
import { watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import type { Span } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';
import type { Load } from '../start-load.ts';
import { spend, waitUntil } from '../wait-until.ts';

export type Sizes = {
  batchesPerSecond: number;
  perBatch: number;
  quietMs: number;
  awayMs: number;
  bound: LatencyBound;
};

/** Ten minutes are long: one hiccup of a disk is allowed, and a p99 below 50 ms is never slow. */
const FULL_BOUND: LatencyBound = { ...STRICT, floorMs: 50, lateMs: 3_000 };
export const FULL: Sizes = { batchesPerSecond: 50, perBatch: 10, quietMs: 20_000, awayMs: 600_000, bound: FULL_BOUND };
export const CI: Sizes = { batchesPerSecond: 20, perBatch: 5, quietMs: 3_000, awayMs: 4_000, bound: NOISY };
const WARM_UP_MS = 1_500;
const CAUGHT_UP_WITHIN_MS = 300_000;
const DRAINED_WITHIN_MS = 60_000;
/** The recorder has a time in which it does what it always does; it belongs to the catch-up, which may be over at once. */
const AFTERWARDS_MS = 1_000;

/** The only process that records dies and is away for long. Deliveries do not notice; then it catches up, exactly. */
export async function stopRecorder(run: FaultRun): Promise<Findings> {
  return disturbRecord(run, run.isFull ? FULL : CI, ({ control }) => ({
    begin: async () => void (await control.kill('SIGKILL')),
    end: async () => void (await control.start()),
  }));
}

/** PostgreSQL ends as in a power cut, in the middle of a transaction of the recorder, and comes back. */
export async function restartDatabase(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? { ...FULL, awayMs: 30_000 } : { ...CI, awayMs: 2_000 };
  return disturbRecord(run, sizes, ({ database }) => ({ begin: database.stop, end: database.start }));
}

type Outage = { begin(): Promise<void>; end(): Promise<void> };

export async function disturbRecord(
  run: FaultRun,
  sizes: Sizes,
  outageIn: (scene: RecorderScene) => Outage,
): Promise<Findings> {
  await using whole = await openRecorderScene(run);
  const { scene, entered } = whole;
  const perBatch = [sizes.perBatch, sizes.perBatch] as const;
  const load = scene.load({ batchesPerSecond: sizes.batchesPerSecond, sizes: perBatch });
  const healthy = watchHealthy(scene, entered.plan.destinations);
  await spend(WARM_UP_MS);
  const quiet = await spend(sizes.quietMs);
  const { away, catchUp, figures } = await strike(whole, outageIn(whole), sizes);
  run.say(`back and caught up: ${JSON.stringify(figures)}`);
  const { to } = await spend(AFTERWARDS_MS);
  const exact = await finishExactly(whole, load);
  return joinFindings(
    healthy.compare('away', { quiet, during: away }, sizes.bound),
    healthy.compare('catchUp', { quiet, during: { ...catchUp, to } }, { ...NOISY, hops: sizes.bound.hops ?? 0 }),
    exact,
    { figures: { ...figures, loadAverage: loadavg()[0] } },
  );
}

/** Resolves when everything is recorded that had happened by the end of the outage. */
async function strike({ scene }: RecorderScene, outage: Outage, { awayMs }: Sizes) {
  await using connection = await connectNats({ url: scene.cluster.adminUrl, name: 'faults', log: SILENT });
  await outage.begin();
  const away = await spend(awayMs);
  const waiting = await readOutcomes(connection);
  const returningAt = performance.now();
  await outage.end();
  const startMs = Math.round(performance.now() - returningAt);
  const isPast = async () => (await readOutcomes(connection)).first_seq > waiting.last_seq;
  await waitUntil('the recorder has caught up', CAUGHT_UP_WITHIN_MS, isPast);
  const catchUp = { from: returningAt, to: performance.now() };
  await scene.receivers.heard();
  const attempts = scene.arrivals.filter(({ at }) => at >= away.from && at < away.to).length;
  const figures = catchUpFigures({ away, catchUp, waiting, attempts });
  return { away, catchUp, figures: { ...figures, startMs } };
}

type CaughtUp = { away: Span; catchUp: Span; waiting: OutcomesWaiting; attempts: number };

function catchUpFigures({ away, catchUp, waiting, attempts }: CaughtUp) {
  const seconds = (catchUp.to - catchUp.from) / 1_000;
  return {
    awayMs: Math.round(away.to - away.from),
    waitingBatches: waiting.messages,
    waitingBytes: waiting.bytes,
    bytesPerAttempt: Math.round(waiting.bytes / attempts),
    caughtUpMs: Math.round(seconds * 1_000),
    attemptsPerSecondCaughtUp: Math.round(attempts / seconds),
  };
}

/**
 * Lets everything end, then compares the record with clients and receivers: no deliver process died, so nothing may differ. Around a strike
 * deliveries may be repeated; the record has each of their attempts.
 */
export async function finishExactly(
  whole: RecorderScene,
  load: Load,
  strikes: readonly Strike[] = [],
  { mayVanish = false }: Pick<RecordTruth, 'mayVanish'> = {},
): Promise<Findings> {
  const { scene } = whole;
  const { oracle, arrivals } = scene;
  await load.stop();
  await scene.receivers.restDice();
  const drainedMs = await scene.drained(DRAINED_WITHIN_MS);
  const { verdict, storedAgain } = await judgeDrained(scene, strikes);
  const record = judgeWholeRecord(await readWholeRecord(whole), { ...oracle, arrivals, storedAgain, mayVanish });
  return joinFindings(verdict, record, { figures: { drainedMs: Math.round(drainedMs) } });
}

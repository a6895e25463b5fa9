import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { addScene, type Job, type Scene } from '../../../server/testing/stack.ts';
import type { Verdict } from '../run.ts';
import { useAllCores } from '../pin.ts';
import { type Installation, openInstallation } from './installation.ts';
import { type Receivers, startReceivers } from './start-receivers.ts';
import { replayInTurns, type TurnSize, type Turns } from './replay-in-turns.ts';
import { clockMs, type Span, watchOther } from './watch-other.ts';
import { until } from '../../../server/testing/until.ts';
import { tracks } from '../../../server/testing/samples.ts';

type Size = TurnSize & { letters: number; perSecond: number; rateMs: number };
type Other = Awaited<ReturnType<typeof watchOther>>;
type Bench = { stack: Installation; receivers: Receivers; scene: Scene; size: Size };

const FULL: Size = {
  events: 100_000,
  letters: 10_000,
  perSecond: 500,
  rateMs: 20_000,
  busyMs: 20_000,
  quietMs: 8_000,
};
const QUICK: Size = { events: 5_000, letters: 500, perSecond: 200, rateMs: 8_000, busyMs: 4_000, quietMs: 3_000 };
const GOALS = { ratePart: 0.05, cancelMs: 2_000, p99Part: 2 };
const PATIENCE_MS = 900_000;
const WARM_UP_MS = 3_000;

/** Stored events replayed by time, and dead letters given another chance, while another destination goes on as ever. */
export async function benchReplay({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  const size = isQuick ? QUICK : FULL;
  useAllCores();
  await using receivers = await startReceivers();
  await using stack = await openInstallation();
  const scene = await addScene(stack, receivers.hookUrl);
  const bench = { stack, receivers, scene, size };
  const other = await watchOther(stack, receivers);
  const filled = await fill(bench);
  await other.during(() => sleep(WARM_UP_MS));
  const preview = await timed(() => stack.get<{ count: number }>('POST', '/replays/preview', rangeOf(scene)));
  const rate = await measureRate(bench);
  const cancelMs = await measureCancel(bench);
  const { whole, others } = await measureWhole(bench, other);
  const redrive = await redriveAll(bench);
  const isGood =
    preview.result.count === size.events &&
    rate.error <= GOALS.ratePart &&
    cancelMs <= GOALS.cancelMs &&
    isEachOnce(whole, size.events) &&
    isEachOnce(redrive, size.letters) &&
    others.ratio <= GOALS.p99Part;
  const previewed = { count: preview.result.count, seconds: preview.seconds };
  const found = { filled, preview: previewed, rate, cancelMs, whole, others, redrive };
  return { isGood, figures: { bench: 'replay', ...size, ...found, goals: GOALS, load: loadavg()[0] } };
}

/** Everything replayed without a rate, and what the other destination noticed of it. */
async function measureWhole({ stack, receivers, scene, size }: Bench, other: Other) {
  let turns: Turns = { busy: [], quiet: [] };
  const needs = { stack, receivers, range: rangeOf(scene), size };
  const flow = await other.during(async () => (turns = await replayInTurns(needs)));
  const [busy, quiet] = [flow.timesIn(turns.busy), flow.timesIn(turns.quiet)];
  const { count, distinct } = await receivers.look();
  const seconds = Math.round(lengthOf(turns.busy) / 100) / 10;
  const whole = { seconds, perSecond: Math.round(count / seconds), received: distinct, count };
  return { whole, others: { quiet, busy, ratio: Math.round((busy.p99Ms / quiet.p99Ms) * 100) / 100 } };
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}

function isEachOnce({ received, count }: { received: number; count: number }, wanted: number): boolean {
  return received === wanted && count === wanted;
}

function rangeOf({ sourceId, destinationId }: Scene) {
  return { sourceId, destinationId, from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
}

async function untilReceived(receivers: Receivers, count: number): Promise<void> {
  await until(async () => (await receivers.look()).count >= count, PATIENCE_MS);
}

async function sendAll({ stack, scene }: Bench, calls: object[]): Promise<void> {
  for (let first = 0; first < calls.length; first += 500) {
    const status = await stack.send(scene.writeKey, calls.slice(first, first + 500));
    if (status !== 200) throw new Error(`a batch was answered ${status}`);
  }
}

async function fill(bench: Bench): Promise<{ seconds: number }> {
  const { seconds } = await timed(async () => {
    await sendAll(bench, tracks(bench.size.events));
    await untilReceived(bench.receivers, bench.size.events);
  });
  return { seconds };
}

/** Measured at the receiver. */
async function measureRate({ stack, receivers, scene, size }: Bench) {
  const asked = { ...rangeOf(scene), ratePerSecond: size.perSecond };
  await receivers.reset();
  const { id } = await stack.get<Job>('POST', '/replays', asked);
  await untilReceived(receivers, size.perSecond);
  const [{ count: before }, startedAt] = [await receivers.look(), performance.now()];
  await sleep(size.rateMs);
  const { count } = await receivers.look();
  const measured = ((count - before) * 1_000) / (performance.now() - startedAt);
  await stack.get('POST', `/replays/${id}/cancel`);
  await sleep(3_000);
  const error = Math.round(Math.abs(measured / size.perSecond - 1) * 1_000) / 1_000;
  return { wanted: size.perSecond, measured: Math.round(measured * 10) / 10, error };
}

/** From the request to cancel until the last event comes. */
async function measureCancel({ stack, receivers, scene, size }: Bench): Promise<number> {
  await receivers.reset();
  const { id } = await stack.get<Job>('POST', '/replays', rangeOf(scene));
  await untilReceived(receivers, Math.min(2_000, size.events / 10));
  const cancelledAt = clockMs();
  await stack.get('POST', `/replays/${id}/cancel`);
  await sleep(5_000);
  return Math.round(Math.max(0, (await receivers.look()).lastAt - cancelledAt));
}

async function redriveAll(bench: Bench) {
  const { stack, receivers, scene, size } = bench;
  const { destinationId } = scene;
  await receivers.refuse(true);
  const calls = tracks(size.letters, { userId: 'u2' });
  await sendAll(
    bench,
    calls.map((call, index) => ({ ...call, messageId: `r-${index}` })),
  );
  await until(async () => (await stack.deadLetterCount(destinationId)) >= size.letters, PATIENCE_MS);
  await receivers.refuse(false);
  await receivers.reset();
  const { seconds } = await timed(async () => {
    await stack.get('POST', '/dead-letters/redrive', { destinationId });
    await untilReceived(receivers, size.letters);
    await until(async () => (await stack.deadLetterCount(destinationId)) === 0, PATIENCE_MS);
  });
  const { count, distinct } = await receivers.look();
  return {
    letters: size.letters,
    seconds,
    received: distinct,
    count,
    left: await stack.deadLetterCount(destinationId),
  };
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}

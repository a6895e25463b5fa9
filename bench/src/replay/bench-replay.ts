import { setTimeout as sleep } from 'node:timers/promises';
import {
  addScene,
  type Job,
  openStack,
  type Scene,
  type Stack,
  tracks,
  until,
} from '../../../server/src/stack-for-tests.ts';
import type { Verdict } from '../run.ts';
import { openCounter } from './counting-receiver.ts';
import { watchOther } from './watch-other.ts';

type Size = { events: number; letters: number; perSecond: number; rateMs: number };
type Counter = Awaited<ReturnType<typeof openCounter>>;

const FULL: Size = { events: 100_000, letters: 10_000, perSecond: 500, rateMs: 20_000 };
const QUICK: Size = { events: 5_000, letters: 500, perSecond: 200, rateMs: 5_000 };
const GOALS = { ratePart: 0.05, cancelMs: 2_000, p99Part: 2 };
const ATTEMPT_PATIENCE_MS = 900_000;

/** Stored events replayed by time, and dead letters given another chance, while another destination goes on as ever. */
export async function benchReplay({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  const size = isQuick ? QUICK : FULL;
  await using stack = await openStack();
  await using receiver = await openCounter();
  const scene = await addScene(stack, receiver.url);
  const other = await watchOther(stack);
  const filled = await fill(stack, { scene, receiver, count: size.events });
  const quietP99Ms = await other.p99Of(() => sleep(10_000));
  const preview = await timed(() => stack.get<{ count: number }>('POST', '/replays/preview', rangeOf(scene)));
  const rate = await measureRate(stack, { scene, size });
  const cancelMs = await measureCancel(stack, { scene, receiver });
  let whole = { seconds: 0, received: 0 };
  const busyP99Ms = await other.p99Of(async () => {
    whole = await replayAll(stack, { scene, receiver, count: size.events });
  });
  const redrive = await redriveAll(stack, { scene, receiver, count: size.letters });
  const figures = {
    events: size.events,
    filled,
    previewCount: preview.result.count,
    previewSeconds: preview.seconds,
    rate,
    cancelMs,
    whole: { ...whole, perSecond: Math.round(size.events / whole.seconds) },
    others: { quietP99Ms, busyP99Ms },
    redrive,
  };
  const isGood =
    preview.result.count === size.events &&
    Math.abs(rate.measured / rate.wanted - 1) <= GOALS.ratePart &&
    cancelMs <= GOALS.cancelMs &&
    whole.received === size.events &&
    redrive.received === size.letters &&
    busyP99Ms <= quietP99Ms * GOALS.p99Part;
  return { isGood, figures };
}

type Part = { scene: Scene; receiver: Counter; count: number };

function rangeOf({ sourceId, destinationId }: Scene) {
  return { sourceId, destinationId, from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
}

async function fill(stack: Stack, { scene, receiver, count }: Part): Promise<{ seconds: number }> {
  const { seconds } = await timed(async () => {
    const calls = tracks(count);
    for (let first = 0; first < count; first += 500) await stack.send(scene.writeKey, calls.slice(first, first + 500));
    await until(() => receiver.count() >= count, ATTEMPT_PATIENCE_MS);
  });
  return { seconds };
}

async function measureRate(stack: Stack, { scene, size }: { scene: Scene; size: Size }) {
  const asked = { ...rangeOf(scene), ratePerSecond: size.perSecond };
  const { id } = await stack.get<Job>('POST', '/replays', asked);
  const done = async () => (await stack.get<Job>('GET', `/replays/${id}`)).progress.done;
  await until(async () => (await done()) > 0, 60_000);
  const [before, startedAt] = [await done(), performance.now()];
  await sleep(size.rateMs);
  const measured = (((await done()) - before) * 1_000) / (performance.now() - startedAt);
  await stack.get('POST', `/replays/${id}/cancel`);
  await sleep(3_000);
  return { wanted: size.perSecond, measured: Math.round(measured * 10) / 10 };
}

/** From the answer to the request until the last event comes. */
async function measureCancel(stack: Stack, { scene, receiver }: Omit<Part, 'count'>): Promise<number> {
  const before = receiver.count();
  const { id } = await stack.get<Job>('POST', '/replays', rangeOf(scene));
  await until(() => receiver.count() > before + 500, 60_000);
  const cancelledAt = Date.now();
  await stack.get('POST', `/replays/${id}/cancel`);
  await sleep(5_000);
  return Math.max(0, receiver.lastAt() - cancelledAt);
}

async function replayAll(stack: Stack, { scene, receiver, count }: Part) {
  receiver.reset();
  const { id } = await stack.get<Job>('POST', '/replays', rangeOf(scene));
  const { seconds } = await timed(() => until(() => receiver.count() >= count, ATTEMPT_PATIENCE_MS));
  await until(async () => (await stack.get<Job>('GET', `/replays/${id}`)).state === 'done');
  return { seconds, received: receiver.distinct() };
}

async function redriveAll(stack: Stack, { scene, receiver, count }: Part) {
  receiver.reset();
  receiver.refuse(true);
  const calls = tracks(count, { userId: 'u2' }).map((call, index) => ({ ...call, messageId: `r-${index}` }));
  for (let first = 0; first < count; first += 500) await stack.send(scene.writeKey, calls.slice(first, first + 500));
  const { destinationId } = scene;
  await until(async () => (await stack.deadLetterCount(destinationId)) >= count, ATTEMPT_PATIENCE_MS);
  receiver.refuse(false);
  receiver.reset();
  await stack.get('POST', '/dead-letters/redrive', { destinationId });
  const { seconds } = await timed(() => until(() => receiver.count() >= count, ATTEMPT_PATIENCE_MS));
  return { letters: count, seconds, received: receiver.distinct(), left: await stack.deadLetterCount(destinationId) };
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}

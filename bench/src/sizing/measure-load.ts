import { setTimeout as sleep } from 'node:timers/promises';
import type { BodyFormat } from '@millrace/contract';
import { freePorts } from '@millrace/engines';
import { addDestination } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { orderCall } from '../order-call.ts';
import type { Receivers } from '../replay/start-receivers.ts';
import { type Installation, type Part, PARTS } from './installation.ts';
import type { Pace } from './watch-pace.ts';

export type Load = {
  name: string;
  events: number;
  callsPerRequest: number;
  padding: number;
  destinations: number;
  /** From 0 to 1: this part of the requests is for destinations that refuse every connection. */
  failingShare?: number;
  /** `documented` without this. */
  bodyFormat?: BodyFormat;
  /** Events that go before those that are measured. */
  warmUpEvents?: number;
};
/** `idle` is the work of processes without any load, taken before the first one: afterwards PostgreSQL vacuums. */
export type Bench = { stack: Installation; receivers: Receivers; idle: Spent };
export type Measured = {
  eventBytes: number;
  /** CPU for an event that came in, idle work taken off. */
  cpuUs: Record<Part, number>;
  /** CPU for the piece of work that never changes. */
  pieceUs: number;
  memoryBytes: Record<Part, number>;
  /** By kind of stream. */
  streamBytes: Record<string, number>;
  /** Bytes of a POST to a receiver that works, with its headers. */
  postBytes: number;
  eventsPerPost: number;
};

type NewSource = { id: string; writeKeys: { key: string }[] };

const IDLE_MS = 4_000;
const SETTLE_MS = 45_000;
/** With retries a thousand times as fast: a delivery has 14 seconds from its first attempt. */
const GIVEN_UP_AFTER_MS = 14_000;
export const WARM_UP_EVENTS = 4_000;
const PATIENCE_MS = 600_000;
const SENDERS = 4;

/** One load from the first call to the last row of the record: bytes and CPU for each event. */
export async function measureLoad({ stack, receivers, idle }: Bench, load: Load, pace: Pace): Promise<Measured> {
  const key = await addSource(stack, load, receivers.hookUrl);
  const brokenKey = await addBrokenSource(stack, load);
  const calls = Array.from({ length: load.events }, (_, index) => callOf(load, index));
  const failing = Math.round(load.events * (load.failingShare ?? 0));
  await warmUp(stack, receivers, key, load);
  const streams = await streamBytes(stack);
  await receivers.reset();
  await pace.us();
  const work = await spent(stack, async () => {
    await Promise.all([
      sendAll(stack, key, calls.slice(failing), load.callsPerRequest),
      sendAll(stack, brokenKey, calls.slice(0, failing), load.callsPerRequest),
    ]);
    const expected = (load.events - failing) * load.destinations;
    await until(async () => (await receivers.look()).count >= expected, PATIENCE_MS);
    if (failing > 0) await givenUp(stack, streams);
    await recorded(stack);
  });
  const pieceUs = await pace.us();
  const after = await streamBytes(stack);
  const { bytes, posts, count } = await receivers.look();
  const perEvent = (sum: number) => sum / load.events;
  return {
    eventBytes: calls.reduce((sum, call) => sum + JSON.stringify(call).length, 0) / load.events,
    cpuUs: eachPart((part) => perEvent(work.cpu[part] - (idle.cpu[part] * work.ms) / idle.ms)),
    pieceUs,
    memoryBytes: eachPart(stack.memoryBytesOf),
    streamBytes: Object.fromEntries(
      Object.entries(after).map(([name, sum]) => [name, perEvent(sum - (streams[name] ?? 0))]),
    ),
    postBytes: bytes / posts,
    eventsPerPost: count / posts,
  };
}

/** Its write key. */
async function addSource(
  stack: Installation,
  { name, destinations, bodyFormat = 'documented' }: Load,
  url: string,
): Promise<string> {
  const { id, writeKeys } = await stack.get<NewSource>('POST', '/sources', { name });
  for (let i = 0; i < destinations; i += 1) await addDestination(stack, id, { targets: [{ url }], bodyFormat });
  return writeKeys[0]?.key ?? '';
}

/** A source whose destinations refuse every connection; collect knows its key when this resolves. */
async function addBrokenSource(stack: Installation, load: Load): Promise<string> {
  if ((load.failingShare ?? 0) === 0) return '';
  const [port = 0] = await freePorts(1);
  const key = await addSource(stack, { ...load, name: `${load.name}-broken` }, `http://127.0.0.1:${port}/`);
  await until(async () => (await stack.send(key, [])) === 400, PATIENCE_MS);
  return key;
}

/** Bytes of a stream for each event of a destination that cannot be delivered to, once the stream has stopped growing. */
export async function measureUndelivered(
  stack: Installation,
  load: Load,
  url: string,
  kind: 'lanes' | 'dead',
): Promise<number> {
  const key = await addSource(stack, load, url);
  await until(async () => (await stack.send(key, [])) === 400, PATIENCE_MS);
  await sleep(IDLE_MS);
  const before = (await streamBytes(stack))[kind] ?? 0;
  const calls = Array.from({ length: load.events }, (_, index) => callOf(load, index));
  await sendAll(stack, key, calls, load.callsPerRequest);
  return (await steadyBytes(stack, kind, before)) / load.events;
}

/** Bytes of a kind of stream beyond those before, once it has grown and stopped growing. */
async function steadyBytes(stack: Installation, kind: string, before: number): Promise<number> {
  let bytes = 0;
  await until(async () => {
    await sleep(2_000);
    const now = ((await streamBytes(stack))[kind] ?? 0) - before;
    const isStill = now > 0 && now === bytes;
    bytes = now;
    return isStill;
  }, PATIENCE_MS);
  return bytes;
}

/** Every delivery that failed has become a dead letter. Control and the engines answer the questions with CPU time that counts: few of them. */
async function givenUp(stack: Installation, before: Record<string, number>): Promise<void> {
  await sleep(GIVEN_UP_AFTER_MS);
  await until(async () => {
    await sleep(2_000);
    const { lanes = 0, dead = 0 } = await streamBytes(stack);
    return lanes <= (before['lanes'] ?? 0) && dead > (before['dead'] ?? 0);
  }, PATIENCE_MS);
}

/** The padding is in `properties`: receivers get those of a track call, and not its `traits`. */
function callOf({ padding, name }: Load, index: number): object {
  const call = orderCall(index);
  const properties = padding === 0 ? call.properties : { ...call.properties, note: 'x'.repeat(padding) };
  return { type: 'track', messageId: `${name}-${index}`, ...call, properties };
}

/** The first deliveries open connections and compile code. */
async function warmUp(stack: Installation, receivers: Receivers, key: string, load: Load): Promise<void> {
  await until(async () => (await stack.send(key, [])) === 400, PATIENCE_MS);
  await receivers.reset();
  const calls = Array.from({ length: load.warmUpEvents ?? WARM_UP_EVENTS }, (_, index) =>
    callOf({ ...load, name: `${load.name}-warm` }, index),
  );
  // Deliver may hear of the destination after collect has heard of the key; it skips events that come in between.
  await until(async () => {
    await sendAll(stack, key, [callOf({ ...load, name: `${load.name}-${Date.now()}` }, 0)], 1);
    await sleep(500);
    return (await receivers.look()).count >= load.destinations;
  }, PATIENCE_MS);
  await receivers.reset();
  await sendAll(stack, key, calls, load.callsPerRequest);
  await until(async () => (await receivers.look()).count >= calls.length * load.destinations, PATIENCE_MS);
  await recorded(stack);
}

async function sendAll(stack: Installation, key: string, calls: readonly object[], size: number): Promise<void> {
  const batches: object[][] = [];
  for (let first = 0; first < calls.length; first += size) batches.push(calls.slice(first, first + size));
  const send = async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      const status = await stack.send(key, batch);
      if (status !== 200 && status !== 503) throw new Error(`a request was answered ${status}`);
      // NATS was busy for a moment: clients send such a request again.
      if (status === 503) batches.push(batch);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

/** The recorder has nothing left to write. */
async function recorded(stack: Installation): Promise<void> {
  await until(async () => ((await streamBytes(stack))['outcomes'] ?? 0) === 0, PATIENCE_MS);
}

async function streamBytes(stack: Installation): Promise<Record<string, number>> {
  const { nats } = await stack.get<{ nats: { streams: { name: string; bytes: number }[] | null } }>('GET', '/system');
  const sums: Record<string, number> = {};
  for (const { name, bytes } of nats.streams ?? []) {
    const kind = name.toLowerCase().replace(/-\d+$/, '');
    sums[kind] = (sums[kind] ?? 0) + bytes;
  }
  return sums;
}

export type Spent = { cpu: Record<Part, number>; ms: number };

/** A process that has just started collects garbage for a while, and PostgreSQL tidies what the migrations have changed. */
export async function measureIdle(stack: Installation, isQuick: boolean): Promise<Spent> {
  await sleep(isQuick ? 0 : SETTLE_MS);
  return spent(stack, () => sleep(isQuick ? IDLE_MS : 5 * IDLE_MS));
}

async function spent(stack: Installation, work: () => Promise<unknown>): Promise<Spent> {
  const [before, startedAt] = [eachPart(stack.cpuUsOf), performance.now()];
  await work();
  const ms = performance.now() - startedAt;
  return { cpu: eachPart((part) => stack.cpuUsOf(part) - before[part]), ms };
}

function eachPart(of: (part: Part) => number): Record<Part, number> {
  return Object.fromEntries(PARTS.map((part) => [part, of(part)])) as Record<Part, number>;
}

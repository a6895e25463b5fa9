import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../server/testing/until.ts';
import type { Receivers } from '../replay/start-receivers.ts';
import { firstTimes, timesOf } from '../replay/watch-other.ts';
import { round } from '../spread.ts';
import { type Cpu, PARTS, type Small } from './installation.ts';
import { type Sent, sendBurst, sendSteadily } from './send-calls.ts';

/** By part, and of all parts. */
export type Costs = Cpu & { all: number };
export type Loaded = { msAnEvent: Costs; p50Ms: number; p99Ms: number };
export type Memory = { residentMb: number; natsMb: number };

const PATIENCE_MS = 120_000;
/** The record of the last deliveries is written by then, and garbage of a burst can be collected. */
const SETTLE_MS = 5_000;

/** Milliseconds of CPU a second while no call comes. */
export async function measureIdle(small: Small, seconds: number): Promise<Costs> {
  return costsOf(small, () => sleep(seconds * 1_000), seconds);
}

/** Milliseconds of CPU an event at a steady rate of single calls, idle work included, until all is recorded; and the time to the receiver. */
export async function measureLoad(
  small: Small,
  receivers: Receivers,
  { seconds, perSecond }: { seconds: number; perSecond: number },
): Promise<Loaded> {
  await receivers.others();
  const calls = seconds * perSecond;
  let sent: Sent = new Map();
  const msAnEvent = await costsOf(small, async () => (sent = await sendSteadily(small, calls, perSecond)), calls);
  const arrived = await arrivalsOf(sent, receivers);
  const { p50Ms, p99Ms } = timesOf([...sent].map(([event, at]) => (arrived.get(event) ?? Infinity) - at));
  return { msAnEvent, p50Ms, p99Ms };
}

/** Resident memory some seconds after the last delivery of a burst. */
export async function measureBurst(small: Small, receivers: Receivers, events: number): Promise<Memory> {
  await receivers.others();
  await arrivalsOf(await sendBurst(small, events), receivers);
  await sleep(SETTLE_MS);
  return { residentMb: round(small.residentMb()), natsMb: round(small.natsMb()) };
}

/** Compiles the code of the whole way, and fills the caches. */
export async function warmUp(small: Small, receivers: Receivers, events: number): Promise<void> {
  await arrivalsOf(await sendSteadily(small, events, 200), receivers);
  await sleep(SETTLE_MS);
}

async function arrivalsOf(sent: Sent, receivers: Receivers): Promise<ReadonlyMap<string, number>> {
  const all: Parameters<typeof firstTimes>[0][number][] = [];
  let times = firstTimes(all);
  await until(async () => {
    for (const each of await receivers.others()) all.push(each);
    times = firstTimes(all);
    return [...sent.keys()].every((event) => times.has(event));
  }, PATIENCE_MS);
  return times;
}

/** Milliseconds of CPU for each of `units`. */
async function costsOf(small: Small, work: () => Promise<unknown>, units: number): Promise<Costs> {
  const before = small.cpu();
  await work();
  const after = small.cpu();
  const costs = { node: 0, nats: 0, postgres: 0, all: 0 };
  for (const part of PARTS) {
    costs[part] = (after[part] - before[part]) / 1_000 / units;
    costs.all += costs[part];
  }
  return costs;
}

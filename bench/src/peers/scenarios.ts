import { setTimeout as sleep } from 'node:timers/promises';
import { cpuUs } from '../cpu-us.ts';
import { childrenOf, endedChildrenUs } from '../sizing/installation.ts';
import { type Exchange, untilArrived } from './exchange.ts';
import { type Flow, flowOf, type Outage } from './journal.ts';
import type { Endpoint, RunningSystem } from './system.ts';

export type Size = {
  burst: number;
  /** Events a second, and for how long. */
  rate: number;
  rateMs: number;
  isolationMs: number;
  /** Without an arrival for this long, the rest counts as missing. */
  patienceMs: number;
  /** CPU is counted until this long after the last arrival: systems write their logs later. */
  settleMs: number;
};
/** CPU of the system and its engines for an event that arrived. */
export type Found = Flow & { cpuUsPerEvent: number };
export type Run = { system: RunningSystem; exchange: Exchange; size: Size; name: string };

const CONNECTIONS = 32;
const BATCH = 20;
const OUTAGE_PATIENCE_MS = 60_000;

/** Events one a request, or several, as fast as the answers come. */
export async function burst(run: Run, perRequest: 1 | typeof BATCH = 1): Promise<Found> {
  return counted(run, async () => {
    const endpoint = firstOf(run.system);
    let next = 0;
    const send = async () => {
      while (next < run.size.burst) {
        const first = next;
        next += perRequest;
        const ids = Array.from({ length: perRequest }, (_, index) => `${run.name}-${perRequest}-${first + index}`);
        await run.exchange.post(endpoint, ids);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
  });
}

export const batches = (run: Run): Promise<Found> => burst(run, BATCH);

/** Events at a steady rate for one tenant. */
export async function steady(run: Run): Promise<Found> {
  return counted(run, () => paced(run, [firstOf(run.system)], run.size.rateMs));
}

/** The same for 20 tenants in turn, of which five have a receiver that hangs and five one that fails. */
export async function isolation(run: Run): Promise<Found> {
  return counted(run, () => paced(run, run.system.endpoints, run.size.isolationMs));
}

async function paced({ exchange, size, name }: Run, endpoints: readonly Endpoint[], ms: number): Promise<void> {
  const startedAt = performance.now();
  const count = Math.floor((size.rate * ms) / 1_000);
  const posts: Promise<number>[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await sleep(Math.max(0, startedAt + (nth * 1_000) / size.rate - performance.now()));
    const endpoint = endpoints[nth % endpoints.length];
    if (endpoint !== undefined) posts.push(exchange.post(endpoint, [`${name}-paced${endpoints.length}-${nth}`]));
  }
  await Promise.all(posts);
}

async function counted({ system, exchange, size }: Run, work: () => Promise<void>): Promise<Found> {
  exchange.reset();
  const before = cpuOf(system);
  await work();
  await untilArrived(exchange, size.patienceMs);
  await sleep(size.settleMs);
  const flow = flowOf(exchange.entries());
  const arrived = Math.max(1, flow.accepted - flow.missing);
  return { ...flow, cpuUsPerEvent: Math.round((cpuOf(system) - before) / arrived) };
}

/**
 * The queue is killed, one event is sent while it is away, the queue is started again, the same event is sent again with the same id until it
 * is accepted, and a new one after it.
 */
export async function outage({ system, exchange, name }: Run): Promise<Outage> {
  exchange.reset();
  const endpoint = firstOf(system);
  const [first, away, after] = [`${name}-before`, `${name}-away`, `${name}-after`];
  await exchange.post(endpoint, [first]);
  await untilArrived(exchange, OUTAGE_PATIENCE_MS);
  await system.queue.kill();
  const startedAt = performance.now();
  const awayStatus = await exchange.post(endpoint, [away]);
  const awayMs = Math.round(performance.now() - startedAt);
  await system.queue.start();
  const resendStatus = await acceptedWithin(exchange, endpoint, away);
  await acceptedWithin(exchange, endpoint, after);
  await untilArrived(exchange, OUTAGE_PATIENCE_MS);
  return {
    queue: system.queue.name,
    awayStatus,
    awayMs,
    resendStatus,
    arrivals: exchange.entry(away)?.arrivals ?? 0,
    isBack: (exchange.entry(after)?.arrivals ?? 0) > 0,
  };
}

/** Clients try again for a while: the last answer counts. */
async function acceptedWithin(exchange: Exchange, endpoint: Endpoint, id: string): Promise<number> {
  const giveUpAt = performance.now() + OUTAGE_PATIENCE_MS / 2;
  for (;;) {
    const status = await exchange.post(endpoint, [id]);
    if ((status >= 200 && status < 300) || performance.now() > giveUpAt) return status;
    await sleep(500);
  }
}

function firstOf({ endpoints }: RunningSystem): Endpoint {
  const [first] = endpoints;
  if (first === undefined) throw new Error('the system has no endpoint');
  return first;
}

/** Of its processes, their children, and children that have ended: PostgreSQL has one for each connection. */
function cpuOf({ pids }: RunningSystem): number {
  return pids().reduce((sum, pid) => sum + treeUs(pid), 0);
}

function treeUs(pid: number): number {
  if (pid === 0) return 0;
  try {
    return childrenOf(pid).reduce((sum, each) => sum + treeUs(each), cpuUs(pid) + endedChildrenUs(pid));
  } catch {
    return 0; // It ended meanwhile.
  }
}

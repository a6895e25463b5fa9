/**
 * The children of a supervisor. Each seat of the crew has its roles and one child at a time:
 *
 *   starting → ready      the child says so when its roles have started
 *   starting → ended, ready → ended      it crashed: `keep` fills the seat again after a delay that doubles with each crash
 *   ready → leaving       `replace` has a successor that is ready: the child hands its ports over and drains
 *   starting → leaving    a successor, when `renew` is asked for again: it answers the requests that it has accepted
 *   any → leaving         `stop`: all children drain at the same time
 *
 * A child that ends with 78 has found a mistake in the settings, and so would the next one: `refused` tells the supervisor to end. While another
 * child works, the service must not end because a file was spoiled: then it is a crash as any other.
 */
import type { Logger } from '../log.ts';
import { type Metrics, openMetrics } from '../metrics/open-metrics.ts';
import { METRICS } from '../metrics/declared.ts';
import type { Readiness } from '../metrics/serve-metrics.ts';
import { pause } from '../pause.ts';
import { judgeReadiness, type SeatReport } from './judge-readiness.ts';
import { mergeMetrics } from './merge-metrics.ts';
import { type EndOrder, EX_CONFIG } from './talk.ts';
import { restartDelayMs } from './restart-delay.ts';
import { type Child, startChild } from './start-child.ts';
import { watchChildren } from './watch-children.ts';

export type CrewNeeds = {
  /** The roles of each seat. */
  plan: readonly (readonly string[])[];
  /** How long a child drains, unless it says that it takes longer. */
  drainMs: number;
  /** A child that takes longer to end after its drain is killed, which loses nothing. */
  endMs: number;
  /** How often children are asked whether they hang. */
  watchEveryMs?: number | undefined;
  log: Logger;
};

export type Crew = Disposable & {
  /** Resolves with the exit code when a child refuses the settings. */
  refused: Promise<number>;
  metrics: Pick<Metrics, 'text' | 'contentType' | 'watchProcess'>;
  look(): Promise<Readiness>;
  /** Replaces all children, one after the other. */
  renew(): Promise<void>;
  /** Ends all children at the same time. */
  stop(): Promise<void>;
  /** Ends all children at once. */
  kill(): void;
};

type Seat = { roles: readonly string[]; child: Child | undefined; failures: number; hasServed: boolean };

/** A child that was ready for this long does not belong to the crashes before. */
const STEADY_MS = 60_000;
const { millrace_children, millrace_child_ends_total, millrace_event_loop_delay_p99_seconds } = METRICS;
const OWN_METRICS = { millrace_children, millrace_child_ends_total, millrace_event_loop_delay_p99_seconds };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openCrew({ plan, drainMs, endMs, watchEveryMs, log }: CrewNeeds): Crew {
  const metrics = openMetrics(OWN_METRICS);
  const ends = metrics.counters('millrace_child_ends_total');
  const children = new Set<Child>();
  const seats: Seat[] = plan.map((roles) => ({ roles, child: undefined, failures: 0, hasServed: false }));
  const { promise: refused, resolve: refuse } = Promise.withResolvers<number>();
  const life = new AbortController();
  let renewing: Promise<void> | undefined;
  let isAskedAgain = false;
  /** The child of a renewal that is not ready yet. */
  let successor: Child | undefined;
  metrics.gauges('millrace_children', () => countStates(seats, children));

  function launch({ roles }: Seat): Child {
    const child = startChild({ number: freeNumber(children), roles });
    children.add(child);
    if (child.pid !== undefined) log.info({ process: child.number, pid: child.pid, roles }, 'child.started');
    void child.ended.then(() => children.delete(child));
    return child;
  }

  function settle(seat: Seat, child: Child): void {
    seat.child = child;
    void child.serves.then(() => (seat.hasServed = true));
    void keep(seat, child);
  }

  async function keep(seat: Seat, child: Child): Promise<void> {
    const { readyMs, ...end } = await child.ended;
    if (life.signal.aborted || seat.child !== child) return;
    if (end.code === EX_CONFIG && !children.values().some((other) => other.state() === 'ready'))
      return refuse(EX_CONFIG);
    seat.failures = readyMs > STEADY_MS ? 1 : seat.failures + 1;
    const restartInMs = restartDelayMs(seat.failures);
    ends('crashed').add();
    log.error({ process: child.number, ...end, restartInMs }, 'child.ended');
    await pause(restartInMs, life.signal);
    if (!life.signal.aborted && seat.child === child) settle(seat, launch(seat));
  }

  /** The successor comes first, so that no role is without a process. */
  async function replace(seat: Seat): Promise<boolean> {
    if (life.signal.aborted) return false;
    const next = launch(seat);
    successor = next;
    const isReady = await Promise.race([next.ready.then(() => true), next.ended.then(() => false)]);
    successor = undefined;
    if (life.signal.aborted) return false;
    if (!isReady) {
      if (!isAskedAgain) log.error({ process: next.number, ...(await next.ended) }, 'renewal.failed');
      return false;
    }
    const { child } = seat;
    settle(seat, next);
    if (child !== undefined) await end(child, 'retire');
    ends('replaced').add();
    return true;
  }

  async function end(child: Child, order: EndOrder): Promise<void> {
    child.order(order);
    const patienceMs = Math.max(drainMs, child.drainMs()) + endMs;
    const impatient = setTimeout(() => {
      log.error({ process: child.number, patienceMs }, 'child.killed');
      child.kill();
    }, patienceMs);
    await child.ended;
    clearTimeout(impatient);
  }

  async function renewAll(): Promise<void> {
    do {
      isAskedAgain = false;
      log.info({ processes: seats.length }, 'renewal.started');
      if (await replaceAll()) log.info({}, 'renewal.done');
      // A person who has corrected the settings meanwhile asks again.
    } while (isAskedAgain && !life.signal.aborted);
  }

  async function replaceAll(): Promise<boolean> {
    for (const seat of seats) if (!(await replace(seat))) return false;
    return true;
  }

  async function reportOf({ child, hasServed }: Seat): Promise<SeatReport> {
    const number = child?.number ?? 0;
    const answer = child?.state() === 'ready' ? await child.ask('readiness') : undefined;
    const { reasons, missing } = answer?.readiness ?? { reasons: [stateOf(child, children)], missing: [] };
    return { number, hasServed, reasons, missing };
  }

  for (const seat of seats) settle(seat, launch(seat));
  const watch = watchChildren({ children, everyMs: watchEveryMs, log });
  return {
    refused,
    metrics: {
      contentType: metrics.contentType,
      watchProcess: metrics.watchProcess,
      async text() {
        const inTurn = [...children].toSorted((one, other) => one.number - other.number);
        const pages = inTurn.map(async (child) => {
          const text = (await child.ask('metrics'))?.metrics ?? '';
          return { process: String(child.number), text };
        });
        return mergeMetrics([{ process: 'supervisor', text: await metrics.text() }, ...(await Promise.all(pages))]);
      },
    },
    async look() {
      if (life.signal.aborted) return { reasons: ['this process is shutting down'], missing: [] };
      return judgeReadiness(await Promise.all(seats.map(reportOf)));
    },
    async renew() {
      isAskedAgain = renewing !== undefined;
      // It may have read settings that were corrected since, and may never get ready with them.
      if (isAskedAgain && successor?.state() === 'starting') void end(successor, 'retire');
      renewing ??= renewAll().finally(() => (renewing = undefined));
      await renewing;
    },
    async stop() {
      life.abort();
      await Promise.all([...children].map((child) => end(child, 'stop')));
    },
    kill: () => children.forEach((child) => child.kill()),
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

/** The number is a label of metrics, so it must not grow with each restart. */
function freeNumber(children: ReadonlySet<Child>): number {
  const taken = new Set([...children].map(({ number }) => number));
  let number = 1;
  while (taken.has(number)) number += 1;
  return number;
}

function stateOf(child: Child | undefined, children: ReadonlySet<Child>): string {
  if (child === undefined || !children.has(child)) return 'it ended and will be started again';
  return child.state() === 'ready' ? 'it does not answer' : 'it is starting';
}

function countStates(seats: readonly Seat[], children: ReadonlySet<Child>): Map<string, number> {
  const counts = new Map<string, number>(STATES.map((state) => [state, 0]));
  const add = (state: string) => void counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const child of children) add(child.state() === 'ready' && child.isSilent() ? 'silent' : child.state());
  for (const { child } of seats) if (child === undefined || !children.has(child)) add('waiting');
  return counts;
}

const STATES = ['ready', 'silent', 'starting', 'leaving', 'waiting'] as const;

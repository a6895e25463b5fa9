/**
 * Virtual time: a queue of events, run one after the other by one loop. Between two events the loop waits until Node has no microtask
 * left, so that promises of the product settle as they do between two turns of the real event loop. No event depends on real time.
 *
 * An event belongs to a process of the simulation. A process is up (its events run), paused (its events wait until it goes on, as
 * after SIGSTOP), or dead (its events are dropped, as after SIGKILL).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { openEventQueue, type QueuedEvent } from './event-queue.ts';

export type VirtualProcess = {
  name: string;
  state: 'up' | 'paused' | 'dead';
  /** The monotonic clock of the process began at this virtual time. */
  startedAt: number;
  /** How far the clock of its host is ahead of the true time. */
  aheadMs: number;
  clock: VirtualClock;
  /** Dice for the product's own randomness. */
  random(): number;
  /** Events that came due while it was paused. */
  held: QueuedEvent[];
};

export type VirtualClock = {
  /** Milliseconds since the beginning of the run. */
  now(): number;
  /** The true time as milliseconds since 1970. */
  trueTime(): number;
  after(delayMs: number, owner: VirtualProcess, run: () => void): QueuedEvent;
  /** A process of its own; it is up. */
  start(name: string, random: () => number): VirtualProcess;
  pause(process: VirtualProcess): void;
  resume(process: VirtualProcess): void;
  kill(process: VirtualProcess): void;
  /** Runs all events up to this time. Ends early when `isOver` says so. */
  runUntil(time: number, isOver?: () => boolean): Promise<void>;
  /** How many events have run. */
  count(): number;
};

export type ClockNeeds = {
  /** Milliseconds since 1970 at the beginning. */
  startsAt: number;
  /** Hears of each event before it runs. */
  watch?(event: QueuedEvent): void;
  /** An event threw: the real process would have died of it. */
  failed(process: VirtualProcess, error: unknown): void;
};

/** The process whose code runs now. */
export const running = new AsyncLocalStorage<VirtualProcess>();

const realImmediate = setImmediate;

/** Resolves when Node has run all microtasks and ticks. */
function settle(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openVirtualClock({ startsAt, watch, failed }: ClockNeeds): VirtualClock {
  const queue = openEventQueue();
  let now = 0;
  let count = 0;

  function run(event: QueuedEvent): void {
    const { owner } = event;
    if (owner.state === 'dead') return;
    if (owner.state === 'paused') {
      owner.held.push(event);
      return;
    }
    count += 1;
    watch?.(event);
    try {
      running.run(owner, event.run);
    } catch (error) {
      failed(owner, error);
    }
  }

  const clock: VirtualClock = {
    now: () => now,
    trueTime: () => startsAt + now,
    after: (delayMs, owner, run) => queue.add({ at: now + Math.max(0, delayMs), owner, run }),
    start(name, random) {
      return { name, state: 'up', startedAt: now, aheadMs: 0, clock, random, held: [] };
    },
    pause(process) {
      if (process.state === 'up') process.state = 'paused';
    },
    resume(process) {
      if (process.state !== 'paused') return;
      process.state = 'up';
      // In the order in which they came due.
      for (const event of process.held.splice(0)) queue.putBack(event, now);
    },
    kill(process) {
      process.state = 'dead';
      process.held = [];
    },
    async runUntil(time, isOver = () => false) {
      await settle();
      while (!isOver()) {
        const next = queue.next(time);
        if (next === undefined) break;
        now = next.at;
        run(next);
        await settle();
      }
      if (!isOver()) now = Math.max(now, time);
    },
    count: () => count,
  };
  return clock;
}

/**
 * Replaces timers, clocks and dice of this program for code that runs inside a simulated process; other code keeps the real ones.
 * Import this module before any module of the product: some keep a reference to `Math.random`.
 */
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { nuid } from '@nats-io/nats-core';
import type { QueuedEvent } from './event-queue.ts';
import { running, type VirtualProcess } from './virtual-clock.ts';

const real = {
  Date,
  setTimeout,
  setInterval,
  setImmediate,
  clearTimeout,
  clearInterval,
  clearImmediate,
  performanceNow: performance.now.bind(performance),
  random: Math.random,
  sleep: timersPromises.setTimeout,
  nuidNext: nuid.next.bind(nuid),
};

type Callback = (...args: unknown[]) => void;

/** A timer of a simulated process. */
class VirtualTimer {
  event: QueuedEvent | undefined;
  again: () => unknown = () => undefined;
  /** Node has no shorter time than a millisecond. */
  schedule(process: VirtualProcess, ms: number, run: () => void): this {
    this.event = process.clock.after(ms, process, run);
    this.again = () => this.schedule(process, ms, run);
    return this;
  }
  refresh(): this {
    this.stop();
    this.again();
    return this;
  }
  stop(): void {
    if (this.event !== undefined) this.event.isCancelled = true;
    this.event = undefined;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

const atLeast = (ms: unknown): number => Math.max(1, Number(ms ?? 0) || 1);

function repeat(timer: VirtualTimer, process: VirtualProcess, ms: number, run: () => void): VirtualTimer {
  return timer.schedule(process, ms, () => {
    repeat(timer, process, ms, run);
    run();
  });
}

function clear(timer: unknown, clearReal: (timer: NodeJS.Timeout) => void): void {
  if (timer instanceof VirtualTimer) timer.stop();
  else clearReal(timer as NodeJS.Timeout);
}

function installTimers(): void {
  const once = (callback: Callback, ms?: number, ...args: unknown[]) => {
    const process = running.getStore();
    if (process === undefined) return real.setTimeout(callback, ms, ...args);
    return new VirtualTimer().schedule(process, atLeast(ms), () => callback(...args));
  };
  const always = (callback: Callback, ms?: number, ...args: unknown[]) => {
    const process = running.getStore();
    if (process === undefined) return real.setInterval(callback, ms, ...args);
    return repeat(new VirtualTimer(), process, atLeast(ms), () => callback(...args));
  };
  const soon = (callback: Callback, ...args: unknown[]) => {
    const process = running.getStore();
    if (process === undefined) return real.setImmediate(callback, ...args);
    return new VirtualTimer().schedule(process, 0, () => callback(...args));
  };
  Object.assign(globalThis, {
    setTimeout: once,
    setInterval: always,
    setImmediate: soon,
    clearTimeout: (timer: unknown) => clear(timer, real.clearTimeout),
    clearInterval: (timer: unknown) => clear(timer, real.clearInterval),
    clearImmediate: (timer: unknown) => clear(timer, real.clearImmediate as unknown as typeof real.clearTimeout),
  });
}

/** `setTimeout` of `node:timers/promises`. */
function sleep<T>(ms?: number, value?: T, options?: { signal?: AbortSignal; ref?: boolean }): Promise<T> {
  const process = running.getStore();
  if (process === undefined) return real.sleep(ms, value, options);
  const { signal } = options ?? {};
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.stop();
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    const timer = new VirtualTimer().schedule(process, atLeast(ms), () => {
      signal?.removeEventListener('abort', stop);
      resolve(value as T);
    });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

function hostTime(): number {
  const process = running.getStore();
  return process === undefined ? real.Date.now() : Math.floor(process.clock.trueTime() + process.aheadMs);
}

class VirtualDate extends real.Date {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(hostTime());
    else super(...(args as [number]));
  }
  static override now(): number {
    return hostTime();
  }
}

/** Ids of a process sort by a random prefix, as the real ones do, and then by their number. */
const ids = new WeakMap<VirtualProcess, { prefix: string; count: number }>();
const PREFIX_MOST = 36 ** 8;
const COUNT_LENGTH = 8;

function nextId(process: VirtualProcess): string {
  const known = ids.get(process) ?? { prefix: Math.floor(process.random() * PREFIX_MOST).toString(36), count: 0 };
  ids.set(process, known);
  known.count += 1;
  return `${known.prefix}${process.name}${known.count.toString(36).padStart(COUNT_LENGTH, '0')}`;
}

function install(): void {
  installTimers();
  Object.assign(timersPromises, { setTimeout: sleep });
  syncBuiltinESMExports();
  Object.assign(globalThis, { Date: VirtualDate });
  performance.now = () => {
    const process = running.getStore();
    return process === undefined ? real.performanceNow() : process.clock.now() - process.startedAt;
  };
  Math.random = () => running.getStore()?.random() ?? real.random();
  nuid.next = () => {
    const process = running.getStore();
    return process === undefined ? real.nuidNext() : nextId(process);
  };
}

install();

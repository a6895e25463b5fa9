import type { Counts } from './counts.ts';

export type Fate = keyof Counts;

/** The calls made between one flush and the next. */
export type FlushWindow = { counts: Counts; open: number; settled: (counts: Counts) => void };

/**
 * Which calls a flush waits for and counts. Every call belongs to exactly one window, that of the first flush after it;
 * a flush is over when its own window and all before it have no open call. So flushes may overlap as they like.
 */
export type FlushWindows = {
  /** The window that calls made now belong to. */
  current: FlushWindow;
  /** Windows of flushes that are not over, the oldest first. */
  ended: FlushWindow[];
  /** Calls without an end, in all windows. */
  open: number;
  totals: Counts;
};

export function makeFlushWindows(): FlushWindows {
  return { current: newWindow(), ended: [], open: 0, totals: noCounts() };
}

/** The window of a call that is made now. */
export function enterWindow(windows: FlushWindows): FlushWindow {
  windows.current.open += 1;
  windows.open += 1;
  return windows.current;
}

export function settleInWindow(windows: FlushWindows, window: FlushWindow, fate: Fate): void {
  window.counts[fate] += 1;
  windows.totals[fate] += 1;
  window.open -= 1;
  windows.open -= 1;
  if (window.open === 0 && windows.ended[0] === window) release(windows);
}

/** The flushes up to now need not wait for this call any more; it moves on to the next one. */
export function keepForNextWindow(windows: FlushWindows, call: { window: FlushWindow }): void {
  if (call.window === windows.current) return;
  const { window } = call;
  call.window = enterWindow(windows);
  settleInWindow(windows, window, 'kept');
}

/** Ends the current window; resolves when everything before this moment is settled. */
export function endWindow(windows: FlushWindows): Promise<Counts> {
  const window = windows.current;
  windows.current = newWindow();
  windows.ended.push(window);
  return new Promise((resolve) => {
    window.settled = resolve;
    if (windows.ended[0] === window) release(windows);
  });
}

function release(windows: FlushWindows): void {
  const firstOpen = windows.ended.findIndex((window) => window.open > 0);
  const over = windows.ended.splice(0, firstOpen === -1 ? windows.ended.length : firstOpen);
  for (const window of over) window.settled(window.counts);
}

function newWindow(): FlushWindow {
  return { counts: noCounts(), open: 0, settled() {} };
}

function noCounts(): Counts {
  return { sent: 0, failed: 0, dropped: 0, kept: 0 };
}

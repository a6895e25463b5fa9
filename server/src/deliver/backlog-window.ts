/**
 * How many attempts of long backlogs may be under way beside the fresh ones: as many as those do not notice. Bounded in number
 * and not in rate, so that a lane is cleared as fast as the machine can, with little under way at a time.
 */
export type BacklogWindow = Disposable & {
  /** Whether one more may begin beside so many. */
  admits(underWay: number): boolean;
  most(): number;
};

export type WindowLook = {
  /** How late this process was at worst, by its own timer. */
  lateMs: number;
  /** Whether somebody was not admitted. */
  isWanted: boolean;
};

const FIRST = 24;
/** It goes on also where nothing is ever quiet. */
export const LEAST = 8;
export const MOST = 256;
/** A process that is busy for so long at a time, or woken so late, lets others wait as well. */
const LATE_MS = 6;
const BACK_OFF = 0.7;
const GROWTH = 1.1;
const TICK_MS = 10;
const LOOK_MS = 100;

export function nextMost(most: number, { lateMs, isWanted }: WindowLook): number {
  if (lateMs > LATE_MS) return Math.max(LEAST, most * BACK_OFF);
  return isWanted ? Math.min(MOST, most * GROWTH) : most;
}

type State = WindowLook & {
  most: number;
  /** Whether anybody asked since the last look. */
  isInUse: boolean;
  tickedAt: number;
  lookedAt: number;
  timer: NodeJS.Timeout | undefined;
  now(): number;
};

export function openBacklogWindow(now: () => number = () => performance.now()): BacklogWindow {
  const quiet = { lateMs: 0, isWanted: false, isInUse: false, tickedAt: 0, lookedAt: 0 };
  const state: State = { ...quiet, most: FIRST, timer: undefined, now };
  return {
    admits(underWay) {
      if (state.timer === undefined) start(state);
      state.isInUse = true;
      const isAdmitted = underWay < Math.floor(state.most);
      state.isWanted ||= !isAdmitted;
      return isAdmitted;
    },
    most: () => Math.floor(state.most),
    [Symbol.dispose]: () => stop(state),
  };
}

/** Only while it is in use: a timer this fine costs a little all the time. */
function start(state: State): void {
  const now = state.now();
  const timer = setInterval(() => tick(state), TICK_MS);
  timer.unref();
  Object.assign(state, { tickedAt: now, lookedAt: now, lateMs: 0, timer });
}

function stop(state: State): void {
  clearInterval(state.timer);
  state.timer = undefined;
}

function tick(state: State): void {
  const now = state.now();
  state.lateMs = Math.max(state.lateMs, now - state.tickedAt - TICK_MS);
  state.tickedAt = now;
  if (now - state.lookedAt < LOOK_MS) return;
  state.most = nextMost(state.most, state);
  if (!state.isInUse) stop(state);
  Object.assign(state, { lookedAt: now, lateMs: 0, isWanted: false, isInUse: false });
}

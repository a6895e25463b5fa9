/**
 * How much of what has waited may be under way beside what is fresh: as much as that does not notice. Bounded in number and not
 * in rate, so that a lane is cleared as fast as the machine can, with little under way at a time.
 */
export type BacklogWindow = Disposable & {
  /** Resolves when one more may begin, with what to call when it is over. */
  enter(): Promise<() => void>;
  most(): number;
};

export type WindowLook = {
  /** How late this process was at worst, by its own timer. */
  lateMs: number;
  /** Whether all of it was in use. */
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
  waiting: ((leave: () => void) => void)[];
  underWay: number;
  most: number;
  tickedAt: number;
  lookedAt: number;
  timer: NodeJS.Timeout | undefined;
  now(): number;
};

/** One for the whole process: who waits is let in in the order of asking. */
export function openBacklogWindow(now: () => number = () => performance.now()): BacklogWindow {
  const quiet = { lateMs: 0, isWanted: false, tickedAt: 0, lookedAt: 0 };
  const state: State = { ...quiet, waiting: [], underWay: 0, most: FIRST, timer: undefined, now };
  return {
    enter() {
      if (state.timer === undefined) start(state);
      const { promise, resolve } = Promise.withResolvers<() => void>();
      state.waiting.push(resolve);
      letIn(state);
      return promise;
    },
    most: () => Math.floor(state.most),
    [Symbol.dispose]() {
      stop(state);
      state.most = Infinity;
      letIn(state);
    },
  };
}

function letIn(state: State): void {
  while (state.underWay < Math.floor(state.most)) {
    const resolve = state.waiting.shift();
    if (resolve === undefined) return;
    state.underWay += 1;
    resolve(() => {
      state.underWay -= 1;
      letIn(state);
    });
  }
  state.isWanted = true;
}

/** Only while it is in use: a timer this fine costs a little all the time. */
function start(state: State): void {
  const now = state.now();
  Object.assign(state, { tickedAt: now, lookedAt: now, lateMs: 0, timer: setInterval(() => tick(state), TICK_MS) });
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
  Object.assign(state, { lookedAt: now, lateMs: 0, isWanted: false });
  if (state.underWay === 0) stop(state);
  else letIn(state);
}

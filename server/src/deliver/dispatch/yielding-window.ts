/**
 * How much of what has waited may be under way beside what is fresh: as much as that does not notice. Bounded in number and
 * not in rate, so that it gets done as fast as the machine can, with little under way at a time.
 */
export type YieldingWindow = Disposable & {
  /** How many more may begin beside so many. */
  room(underWay: number): number;
  most(): number;
  /** Tells of something fresh, and how much later than usual it came. */
  fresh(lateMs: number): void;
};

export type WindowSize = {
  first: number /** It goes on also where nothing is ever quiet. */;
  least: number;
  most: number;
};

/** For attempts that are part of a long backlog. */
export const BACKLOG_WINDOW: WindowSize = { first: 24, least: 8, most: 256 };
/** For looks at lanes whose receiver is in trouble. Each is half a dozen questions to the engine, one after the other. */
export const LOOKS_WINDOW: WindowSize = { first: 8, least: 2, most: 128 };

export type WindowLook = {
  /** How late this process was at worst, by its own timer. */
  lateMs: number;
  /** How much came fresh, and how much of it late. */
  fresh: number;
  late: number;
  /** Whether somebody found no room. */
  isWanted: boolean;
};

/** A process that is busy for so long at a time, or woken so late, lets others wait as well. */
const LATE_MS = 6;
/** Some are always late; more than this is our doing. */
const LATE_SHARE = 0.1;
const BACK_OFF = 0.7;
const GROWTH = 1.1;
const TICK_MS = 10;
const LOOK_MS = 100;

export function nextMost(now: number, look: WindowLook, { least, most }: WindowSize): number {
  const { lateMs, fresh, late, isWanted } = look;
  if (lateMs > LATE_MS || late > fresh * LATE_SHARE) return Math.max(least, now * BACK_OFF);
  return isWanted ? Math.min(most, now * GROWTH) : now;
}

type State = WindowLook & {
  size: WindowSize;
  most: number;
  /** Whether anything was under way since the last look. */
  isInUse: boolean;
  tickedAt: number;
  lookedAt: number;
  timer: NodeJS.Timeout | undefined;
  now(): number;
};

const QUIET = { lateMs: 0, fresh: 0, late: 0, isWanted: false, isInUse: false };

export function openYieldingWindow(size: WindowSize, now: () => number = () => performance.now()): YieldingWindow {
  const state: State = { ...QUIET, tickedAt: 0, lookedAt: 0, size, most: size.first, timer: undefined, now };
  return {
    room(underWay) {
      if (underWay > 0) keepOn(state);
      const room = Math.max(0, Math.floor(state.most) - underWay);
      state.isWanted ||= room === 0;
      return room;
    },
    most: () => Math.floor(state.most),
    fresh(lateMs) {
      state.fresh += 1;
      if (lateMs > LATE_MS) state.late += 1;
    },
    [Symbol.dispose]: () => stop(state),
  };
}

/** Only while it is in use: a timer this fine costs a little all the time. */
function keepOn(state: State): void {
  state.isInUse = true;
  if (state.timer !== undefined) return;
  const now = state.now();
  const timer = setInterval(() => tick(state), TICK_MS);
  timer.unref();
  Object.assign(state, { ...QUIET, isInUse: true, tickedAt: now, lookedAt: now, timer });
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
  state.most = nextMost(state.most, state, state.size);
  if (!state.isInUse) stop(state);
  Object.assign(state, QUIET, { lookedAt: now });
}

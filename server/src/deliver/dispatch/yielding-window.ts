/**
 * Limits how much of the backlog is under way, so that new events are not delayed: a window that grows by a tenth while new events
 * come on time, and shrinks by three tenths when they or this process's timers are late. The limit is a number and not a rate: the
 * backlog is done as fast as the machine can, with little under way at a time.
 */
export type YieldingWindow = Disposable & {
  /** How many more may begin beside those under way. */
  room(underWay: number): number;
  most(): number;
  /** A new event came, this much later than usual. */
  fresh(lateMs: number): void;
};

export type WindowSize = {
  first: number;
  /** The backlog moves on even when new events are always late. */
  least: number;
  most: number;
};

/** For attempts that are part of a long backlog. */
export const BACKLOG_WINDOW: WindowSize = { first: 24, least: 8, most: 256 };
/** For looks at lanes whose receiver is in trouble. Each is half a dozen requests to NATS, one after the other. */
export const LOOKS_WINDOW: WindowSize = { first: 8, least: 2, most: 128 };

export type WindowLook = {
  /** How late this process was at worst, by its own timer. */
  lateMs: number;
  /** How many new events came, and how many of them late. */
  fresh: number;
  late: number;
  /** Whether there was no room for a part of the backlog. */
  isWanted: boolean;
};

/** Timers that are this late: the process is busy for so long at a time that others wait as well. */
const LATE_MS = 6;
/** A few events are always late; a larger share than this is caused by the backlog. */
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

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openYieldingWindow(size: WindowSize, now: () => number = () => performance.now()): YieldingWindow {
  let most = size.first;
  let look = newLook();
  /** Whether anything was under way since the last look. */
  let isInUse = false;
  let tickedAt = 0;
  let lookedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Only while the window is in use: a timer this fine costs a little all the time. */
  function keepOn(): void {
    isInUse = true;
    if (timer !== undefined) return;
    look = newLook();
    tickedAt = now();
    lookedAt = tickedAt;
    timer = setInterval(tick, TICK_MS).unref();
  }

  function tick(): void {
    const at = now();
    look.lateMs = Math.max(look.lateMs, at - tickedAt - TICK_MS);
    tickedAt = at;
    if (at - lookedAt < LOOK_MS) return;
    most = nextMost(most, look, size);
    if (!isInUse) stop();
    look = newLook();
    isInUse = false;
    lookedAt = at;
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    room(underWay) {
      if (underWay > 0) keepOn();
      const room = Math.max(0, Math.floor(most) - underWay);
      look.isWanted ||= room === 0;
      return room;
    },
    most: () => Math.floor(most),
    fresh(lateMs) {
      look.fresh += 1;
      if (lateMs > LATE_MS) look.late += 1;
    },
    [Symbol.dispose]: stop,
  };
}

function newLook(): WindowLook {
  return { lateMs: 0, fresh: 0, late: 0, isWanted: false };
}

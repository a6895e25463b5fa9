import type { Connection } from '../nats/connect-nats.ts';
import {
  type Fields,
  isMatch,
  keyOf,
  MAX_TAIL_PER_SECOND,
  type TailFilter,
  type TailWant,
  WANT_LASTS_MS,
} from './tail-entry.ts';
import { tailSubject, wantSubject } from '../layout/layout.ts';

/** How collect and deliver let others look on. */
export type TailWriter = {
  /** Ask this first: mostly nobody looks on, and then nothing else is to be done. */
  isWanted(sourceId: string): boolean;
  /** Whether this one is to be sent: somebody asked for such, and has not had too many. If not, it is counted. */
  takes(sourceId: string, type: unknown, fields: Fields): boolean;
  /** A TailEntry as JSON. */
  send(sourceId: string, text: string): void;
};

export const NO_TAIL: TailWriter = { isWanted: () => false, takes: () => false, send: () => undefined };

/** `left` is how many may be sent at once; it grows with time. */
type Line = { filter: TailFilter; left: number; leftOut: number };
type Wanted = {
  listeners: Map<string, { filters: TailFilter[]; until: number }>;
  /** What is wanted, by key; those who want the same share a budget. */
  lines: Map<string, Line>;
  texts: string[];
  bytes: number;
};
type State = { connection: Connection; wanted: Map<string, Wanted>; left: number; timer: NodeJS.Timeout | undefined };

/**
 * Looking on must not cost what is looked at. What comes at once is sent up to a number, and then so many a second: for one
 * wish, and for all of them in this process.
 */
const WISH = { atOnce: MAX_TAIL_PER_SECOND, perSecond: 25 } as const;
const ALL = { atOnce: 100, perSecond: 50 } as const;
const SEND_EVERY_MS = 200;
/** Well below what a message may hold. */
const MAX_BYTES = 262_144;

export function openTailWriter(connection: Connection): TailWriter & Disposable {
  const state: State = { connection, wanted: new Map(), left: ALL.atOnce, timer: undefined };
  const subscription = connection.nc.subscribe(wantSubject('*'), {
    callback(error, message) {
      const sourceId = message.subject.slice(wantSubject('').length);
      if (error === null) note(state, sourceId, message.json<TailWant>());
    },
  });
  return {
    isWanted: (sourceId) => state.wanted.size > 0 && state.wanted.has(sourceId),
    takes: (sourceId, type, fields) => takes(state, sourceId, { type, fields }),
    send: (sourceId, text) => gather(state, sourceId, text),
    [Symbol.dispose]() {
      subscription.unsubscribe();
      clearInterval(state.timer);
    },
  };
}

function note(state: State, sourceId: string, { from, filters }: TailWant): void {
  const known = state.wanted.get(sourceId);
  const wanted: Wanted = known ?? { listeners: new Map(), lines: new Map(), texts: [], bytes: 0 };
  if (filters.length === 0) wanted.listeners.delete(from);
  else wanted.listeners.set(from, { filters, until: performance.now() + WANT_LASTS_MS });
  if (wanted.listeners.size === 0) {
    state.wanted.delete(sourceId);
    return;
  }
  state.wanted.set(sourceId, wanted);
  setLines(wanted);
  state.timer ??= setInterval(() => sendAll(state), SEND_EVERY_MS);
}

function setLines(wanted: Wanted): void {
  const before = wanted.lines;
  wanted.lines = new Map();
  for (const { filters } of wanted.listeners.values()) {
    for (const filter of filters) {
      const key = keyOf(filter);
      const line = before.get(key) ?? { filter, left: WISH.atOnce, leftOut: 0 };
      wanted.lines.set(key, line);
    }
  }
}

function takes(state: State, sourceId: string, { type, fields }: { type: unknown; fields: Fields }): boolean {
  const wanted = state.wanted.get(sourceId);
  if (wanted === undefined) return false;
  let isPaid = false;
  if (state.left >= 1) {
    for (const line of wanted.lines.values()) {
      if (line.left < 1 || !isMatch(line.filter, type, fields)) continue;
      // Each of them pays, so no short cut.
      line.left -= 1;
      isPaid = true;
    }
  }
  if (isPaid) state.left -= 1;
  else for (const line of wanted.lines.values()) if (isMatch(line.filter, type, fields)) line.leftOut += 1;
  return isPaid;
}

function gather(state: State, sourceId: string, text: string): void {
  const wanted = state.wanted.get(sourceId);
  if (wanted === undefined) return;
  if (wanted.bytes + text.length > MAX_BYTES) send(state, sourceId, wanted);
  wanted.texts.push(text);
  wanted.bytes += text.length;
}

const TICKS_PER_SECOND = 1_000 / SEND_EVERY_MS;

function sendAll(state: State): void {
  const now = performance.now();
  state.left = Math.min(ALL.atOnce, state.left + ALL.perSecond / TICKS_PER_SECOND);
  for (const [sourceId, wanted] of state.wanted) {
    for (const line of wanted.lines.values()) {
      line.left = Math.min(WISH.atOnce, line.left + WISH.perSecond / TICKS_PER_SECOND);
    }
    send(state, sourceId, wanted);
    const { size } = wanted.listeners;
    for (const [from, { until }] of wanted.listeners) if (until < now) wanted.listeners.delete(from);
    if (wanted.listeners.size < size) setLines(wanted);
    if (wanted.listeners.size === 0) state.wanted.delete(sourceId);
  }
  if (state.wanted.size > 0) return;
  clearInterval(state.timer);
  state.timer = undefined;
}

function send({ connection }: State, sourceId: string, wanted: Wanted): void {
  const leftOut: Record<string, number> = {};
  for (const [key, line] of wanted.lines) {
    if (line.leftOut > 0) leftOut[key] = line.leftOut;
    line.leftOut = 0;
  }
  const { texts } = wanted;
  if (texts.length === 0 && Object.keys(leftOut).length === 0) return;
  wanted.texts = [];
  wanted.bytes = 0;
  // While the connection is away the library would keep it all, and who looks on would see the past.
  if (!connection.isConnected()) return;
  connection.nc.publish(tailSubject(sourceId), `{"entries":[${texts.join(',')}],"leftOut":${JSON.stringify(leftOut)}}`);
}

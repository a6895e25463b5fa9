/**
 * Collect and deliver publish entries for the live tail. A source is idle until a listener announces filters for it, and idle
 * again when all listeners have left or have not renewed within WANT_LASTS_MS. Entries gather and are published every
 * SEND_EVERY_MS. Token buckets limit them: tailing must not slow the traffic.
 */
import { newTokenBucket, refill, type TokenBucket } from '../../domain/token-bucket.ts';
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

export type TailWriter = {
  /** Ask this first: mostly there is no listener, and then nothing else is to be done. */
  isWanted(sourceId: string): boolean;
  /** Whether to send this entry: a filter matches and has tokens left. If only tokens lack, the entry is counted as left out. */
  takes(sourceId: string, type: unknown, fields: Fields): boolean;
  /** A TailEntry as JSON. */
  send(sourceId: string, text: string): void;
};

export const NO_TAIL: TailWriter = { isWanted: () => false, takes: () => false, send: () => undefined };

type Line = { filter: TailFilter; budget: TokenBucket; leftOut: number };
type Wanted = {
  listeners: Map<string, { filters: TailFilter[]; until: number }>;
  /** By the filter's key: listeners with the same filter share a budget. */
  lines: Map<string, Line>;
  texts: string[];
  bytes: number;
};

/** For one filter, and for all filters of this process. */
const PER_FILTER = { burst: MAX_TAIL_PER_SECOND, perSecond: 25 } as const;
const ALL = { burst: 100, perSecond: 50 } as const;
const SEND_EVERY_MS = 200;
/** Well below what a message may hold. */
const MAX_BYTES = 262_144;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openTailWriter(connection: Connection): TailWriter & Disposable {
  const sources = new Map<string, Wanted>();
  /** The buckets' clock: it advances with each tick, and stands still while no listener is there. */
  let tickMs = 0;
  const budget = newTokenBucket(ALL.burst, tickMs);
  let timer: NodeJS.Timeout | undefined;
  const subscription = connection.nc.subscribe(wantSubject('*'), {
    callback(error, message) {
      if (error === null) note(message.subject.slice(wantSubject('').length), message.json<TailWant>());
    },
  });

  function note(sourceId: string, { from, filters }: TailWant): void {
    const known = sources.get(sourceId);
    const wanted: Wanted = known ?? { listeners: new Map(), lines: new Map(), texts: [], bytes: 0 };
    if (filters.length === 0) wanted.listeners.delete(from);
    else wanted.listeners.set(from, { filters, until: performance.now() + WANT_LASTS_MS });
    if (wanted.listeners.size === 0) {
      sources.delete(sourceId);
      return;
    }
    sources.set(sourceId, wanted);
    setLines(wanted);
    timer ??= setInterval(tick, SEND_EVERY_MS);
  }

  function setLines(wanted: Wanted): void {
    const before = wanted.lines;
    wanted.lines = new Map();
    for (const { filters } of wanted.listeners.values()) {
      for (const filter of filters) {
        const key = keyOf(filter);
        const line = before.get(key) ?? { filter, budget: newTokenBucket(PER_FILTER.burst, tickMs), leftOut: 0 };
        wanted.lines.set(key, line);
      }
    }
  }

  function tick(): void {
    const now = performance.now();
    tickMs += SEND_EVERY_MS;
    refill(budget, tickMs, ALL.perSecond, ALL.burst);
    for (const [sourceId, wanted] of sources) {
      for (const line of wanted.lines.values()) refill(line.budget, tickMs, PER_FILTER.perSecond, PER_FILTER.burst);
      publish(sourceId, wanted);
      const { size } = wanted.listeners;
      for (const [from, { until }] of wanted.listeners) if (until < now) wanted.listeners.delete(from);
      if (wanted.listeners.size < size) setLines(wanted);
      if (wanted.listeners.size === 0) sources.delete(sourceId);
    }
    if (sources.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function publish(sourceId: string, wanted: Wanted): void {
    const leftOut: Record<string, number> = {};
    for (const [key, line] of wanted.lines) {
      if (line.leftOut > 0) leftOut[key] = line.leftOut;
      line.leftOut = 0;
    }
    const { texts } = wanted;
    if (texts.length === 0 && Object.keys(leftOut).length === 0) return;
    wanted.texts = [];
    wanted.bytes = 0;
    // While the connection is away the library would keep every entry, and listeners would later see the past.
    if (!connection.isConnected()) return;
    const batch = `{"entries":[${texts.join(',')}],"leftOut":${JSON.stringify(leftOut)}}`;
    connection.nc.publish(tailSubject(sourceId), batch);
  }

  return {
    isWanted: (sourceId) => sources.size > 0 && sources.has(sourceId),
    takes(sourceId, type, fields) {
      const wanted = sources.get(sourceId);
      if (wanted === undefined) return false;
      let isPaid = false;
      if (budget.tokens >= 1) {
        for (const line of wanted.lines.values()) {
          if (line.budget.tokens < 1 || !isMatch(line.filter, type, fields)) continue;
          // Each matching filter pays, so the loop does not end with the first.
          line.budget.tokens -= 1;
          isPaid = true;
        }
      }
      if (isPaid) budget.tokens -= 1;
      else for (const line of wanted.lines.values()) if (isMatch(line.filter, type, fields)) line.leftOut += 1;
      return isPaid;
    },
    send(sourceId, text) {
      const wanted = sources.get(sourceId);
      if (wanted === undefined) return;
      if (wanted.bytes + text.length > MAX_BYTES) publish(sourceId, wanted);
      wanted.texts.push(text);
      wanted.bytes += text.length;
    },
    [Symbol.dispose]() {
      subscription.unsubscribe();
      clearInterval(timer);
    },
  };
}

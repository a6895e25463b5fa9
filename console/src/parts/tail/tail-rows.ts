/**
 * The newest rows of a live tail: calls, refusals, and remarks about what was left out. Outcomes join the row of their call, and
 * may come before it. Everything here is bounded, however fast the events come.
 */
import type { TailEvent } from '@millrace/contract/control';
import type { Static } from 'typebox';

export type Heard = Static<typeof TailEvent>;
export type OutcomeHeard = Extract<Heard, { kind: 'outcome' }>;

export type CallRow = {
  key: number;
  kind: 'accepted' | 'refused';
  at: string;
  messageId?: string | undefined;
  type?: string | undefined;
  name?: string | undefined;
  userId?: string | undefined;
  anonymousId?: string | undefined;
  call?: unknown;
  /** Of a refused call. */
  code?: string | undefined;
  message?: string | undefined;
  /** The latest of each destination; the array is replaced when one joins. */
  outcomes: readonly OutcomeHeard[];
};
export type LeftOutRow = { key: number; kind: 'left-out'; at: string; leftOut: number; maxPerSecond: number };
export type TailRow = CallRow | LeftOutRow;

/** How the URL names a row. */
export function showId({ messageId, key }: CallRow): string {
  return messageId ?? `#${key}`;
}

export type TailCounts = { calls: number; refused: number; leftOut: number };

export type TailRows = {
  add(events: readonly unknown[], now: number): void;
  /** Newest first. */
  list(): TailRow[];
  /** Since the tail was opened. */
  counts(): TailCounts;
  /** Calls a second over the last ten seconds; a shorter tail is measured as far as it goes. */
  rate(now: number): number;
};

const RATE_SECONDS = 10;

export function openTailRows(most = 500): TailRows {
  /** Oldest first; twice as long as needed before it is cut, so that a cut is rare. */
  let rows: TailRow[] = [];
  let lastKey = 0;
  let startedAt: number | undefined;
  const byMessage = new Map<string, CallRow>();
  const early = new Map<string, OutcomeHeard[]>();
  const counted: TailCounts = { calls: 0, refused: 0, leftOut: 0 };
  const perSecond = new Map<number, number>();

  function addRow(row: TailRow): void {
    rows.push(row);
    if (rows.length < most * 2) return;
    for (const old of rows.slice(0, -most)) forget(old);
    rows = rows.slice(-most);
  }
  function forget(row: TailRow): void {
    if (row.kind === 'left-out' || row.messageId === undefined) return;
    if (byMessage.get(row.messageId) === row) byMessage.delete(row.messageId);
  }
  function addCall(event: Extract<Heard, { kind: 'accepted' | 'refused' }>, now: number): void {
    lastKey += 1;
    const { messageId } = event;
    const outcomes = messageId === undefined ? [] : (early.get(messageId) ?? []);
    const row: CallRow = { ...event, key: lastKey, outcomes: latestOfEach(outcomes) };
    if (messageId !== undefined) {
      early.delete(messageId);
      byMessage.set(messageId, row);
    }
    counted.calls += 1;
    if (event.kind === 'refused') counted.refused += 1;
    const second = Math.floor(now / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    for (const old of perSecond.keys()) if (old < second - RATE_SECONDS) perSecond.delete(old);
    addRow(row);
  }
  function addOutcome(event: OutcomeHeard): void {
    if (event.messageId === undefined) return;
    const row = byMessage.get(event.messageId);
    if (row !== undefined) row.outcomes = latestOfEach([...row.outcomes, event]);
    else {
      early.set(event.messageId, [...(early.get(event.messageId) ?? []), event].slice(-20));
      const [oldest] = early.keys();
      if (early.size > most && oldest !== undefined) early.delete(oldest);
    }
  }
  function addLeftOut({ leftOut, maxPerSecond }: Extract<Heard, { kind: 'sampled' }>, now: number): void {
    counted.leftOut += leftOut;
    const last = rows.at(-1);
    // Nothing was shown in between: one remark says it all.
    if (last?.kind === 'left-out') rows[rows.length - 1] = { ...last, leftOut: last.leftOut + leftOut };
    else {
      lastKey += 1;
      addRow({ key: lastKey, kind: 'left-out', at: new Date(now).toISOString(), leftOut, maxPerSecond });
    }
  }

  return {
    add(events, now) {
      startedAt ??= now;
      for (const event of events as Heard[]) {
        if (event.kind === 'accepted' || event.kind === 'refused') addCall(event, now);
        else if (event.kind === 'outcome') addOutcome(event);
        else if (event.kind === 'sampled') addLeftOut(event, now);
      }
    },
    list: () => rows.slice(-most).reverse(),
    counts: () => ({ ...counted }),
    rate(now) {
      const second = Math.floor(now / 1_000);
      let calls = 0;
      for (const [at, count] of perSecond) if (at >= second - RATE_SECONDS && at < second) calls += count;
      const seconds = Math.min(RATE_SECONDS, second - Math.floor((startedAt ?? now) / 1_000));
      return seconds < 1 ? 0 : calls / seconds;
    },
  };
}

/** One for each destination, always in the same order. An outcome of a later attempt takes the place of the one before. */
function latestOfEach(outcomes: readonly OutcomeHeard[]): OutcomeHeard[] {
  const latest = new Map<string, OutcomeHeard>();
  for (const outcome of outcomes) {
    const before = latest.get(outcome.destinationId);
    if (before === undefined || before.at <= outcome.at) latest.set(outcome.destinationId, outcome);
  }
  return [...latest.values()].sort((one, other) => one.destinationId.localeCompare(other.destinationId));
}

/**
 * The stored requests of one source, newest first. JetStream reads a subject only forwards, so each stream is read in windows of
 * sequences from its end back: a window is read forwards, held, and given away from its end. A window grows while it finds few
 * requests of the source and shrinks when it finds many. Of all streams, the newest held request is next.
 *
 * The budget ends a read only after its first request: a caller who goes on from the places of an earlier read always comes
 * further. The first round over all streams stays bounded all the same: each stream holds at most its part of half the budget.
 */
import type { EventReader, StoredEvents } from './stored-events.ts';

/** For each stream, the highest sequence that is still to be read; 0 at its end. */
export type Places = readonly number[];

export type BackRange = {
  sourceId: string;
  /** Where an earlier read stopped. */
  places?: Places | undefined;
  /** Stored before this, in milliseconds. */
  before?: number | undefined;
  /** Requests that were stored before this are not wanted. */
  since?: number | undefined;
};

/** A bound on one read: requests that are held or given away, and time. */
export type Budget = { requests: number; untilMs: number };

export type BackRead = {
  /** Undefined when nothing is left, or the budget is spent. */
  next(): Promise<(StoredEvents & { stream: number }) | undefined>;
  /** Where to go on. */
  places(): Places;
  isAtEnd(): boolean;
};

const FIRST_SPAN = 64;
/** A window that finds more is given up and read anew, smaller: its newest requests would come too late. */
const MANY = 256;
/** A window that finds less than this part of what it may hold is followed by a larger one. */
const FEW = 1 / 8;
const READ_AT_FIRST = 16;
const READ_AT_ONCE = 64;
/** Of one stream, and of all. A single request may be larger. */
const MAX_STREAM_BYTES = 4_194_304;
const MAX_BYTES = 16_777_216;

/** The most that a window holds. */
type Limits = { requests: number; bytes: number };

type Tape = { stream: number; first: number; upTo: number; span: number; held: StoredEvents[] };

export async function readBackwards(reader: EventReader, range: BackRange, budget: Budget): Promise<BackRead> {
  const tapes: Tape[] = [];
  const limits = limitsOf(reader.streams, budget);
  for (let stream = 0; stream < reader.streams; stream += 1) {
    tapes.push({ ...(await openTape(reader, range, stream)), span: Math.min(FIRST_SPAN, limits.requests) });
  }
  let hasGiven = false;
  const isSpent = () => hasGiven && (budget.requests <= 0 || performance.now() >= budget.untilMs);
  const fill = async (tape: Tape) => {
    while (tape.held.length === 0 && tape.upTo >= tape.first && !isSpent()) {
      await readWindow(reader, { tape, sourceId: range.sourceId, budget, limits });
      dropOlder(tape, range.since);
    }
  };
  const isAtEnd = () => tapes.every((tape) => placeOf(tape) === 0);
  return {
    isAtEnd,
    places: () => tapes.map(placeOf),
    async next() {
      for (const tape of tapes) await fill(tape);
      // A stream whose newest request is not known yet may hold a newer one than those that are.
      if (tapes.some((tape) => tape.held.length === 0 && placeOf(tape) > 0)) return undefined;
      const newest = tapes.reduce((one, other) => (storedAt(other) > storedAt(one) ? other : one));
      const request = newest.held.pop();
      if (request === undefined) return undefined;
      hasGiven = true;
      return { ...request, stream: newest.stream };
    },
  };
}

function limitsOf(streams: number, budget: Budget): Limits {
  const requests = Math.max(1, Math.min(MANY, Math.floor(budget.requests / streams / 2)));
  return { requests, bytes: Math.min(MAX_STREAM_BYTES, Math.floor(MAX_BYTES / streams)) };
}

async function openTape(reader: EventReader, { sourceId, places, before }: BackRange, stream: number): Promise<Tape> {
  const bounds = await reader.ends(stream);
  const tape = { stream, first: bounds?.first ?? 1, upTo: bounds?.last ?? 0, span: FIRST_SPAN, held: [] };
  // A stream that was added since the first page holds only what is newer than that page.
  if (places !== undefined) return { ...tape, upTo: Math.min(tape.upTo, places[stream] ?? 0) };
  if (before === undefined || bounds === undefined) return tape;
  const next = await reader.firstAt(stream, sourceId, before);
  return next === undefined ? tape : { ...tape, upTo: next - 1 };
}

function placeOf({ held, upTo, first }: Tape): number {
  return held.at(-1)?.sequence ?? (upTo >= first ? upTo : 0);
}

function storedAt({ held }: Tape): number {
  return held.at(-1)?.storedAt ?? -Infinity;
}

type Window = { tape: Tape; sourceId: string; budget: Budget; limits: Limits };

async function readWindow(reader: EventReader, { tape, sourceId, budget, limits }: Window): Promise<void> {
  const { stream, first, upTo, span } = tape;
  const begin = Math.max(first, upTo - span + 1);
  const held: StoredEvents[] = [];
  let bytes = 0;
  let from = begin;
  while (from <= upTo) {
    const most = Math.min(upTo - from + 1, held.length === 0 ? READ_AT_FIRST : READ_AT_ONCE);
    const read = await reader.read({ stream, sourceId, from }, most);
    const inside = read.filter(({ sequence }) => sequence <= upTo);
    held.push(...inside);
    bytes += inside.reduce((sum, request) => sum + request.bytes, 0);
    if (upTo > begin && (held.length > limits.requests || bytes > limits.bytes)) {
      tape.span = Math.max(1, Math.floor((upTo - begin + 1) / 8));
      return;
    }
    // An empty answer is the leader's word that no more requests follow.
    if (inside.length < read.length || read.length === 0) break;
    from = (read.at(-1)?.sequence ?? upTo) + 1;
  }
  budget.requests -= held.length;
  tape.held = held;
  tape.upTo = begin - 1;
  if (held.length <= limits.requests * FEW && bytes <= limits.bytes * FEW) tape.span = span * 4;
}

/** Everything before a request that is too old is older still. */
function dropOlder(tape: Tape, since: number | undefined): void {
  if (since === undefined) return;
  const wanted = tape.held.filter((request) => request.storedAt >= since);
  if (wanted.length === tape.held.length) return;
  tape.held = wanted;
  tape.upTo = 0;
}

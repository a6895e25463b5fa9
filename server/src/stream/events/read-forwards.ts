/**
 * The stored requests of one source in the order in which they were stored. Within a stream that is the order of sequences; streams
 * are merged by the time of storage. A reader of several streams could see a later request in one stream before it sees an earlier
 * one in another, so with several streams the newest requests are held back until the horizon has passed them.
 */
import type { EventReader, StoredEvents } from './stored-events.ts';

/**
 * For each stream, the first sequence that is still to be read. 0: from the beginning of the stream, because it was empty, or did
 * not exist, when the place was noted.
 */
export type FeedPosition = readonly number[];

export type ForwardRange = {
  sourceId: string;
  /** Where an earlier read stopped. */
  places?: FeedPosition | undefined;
  /** Without places: stored at this time or later, in milliseconds. Without both, the read begins at the end. */
  since?: number | undefined;
  /** Requests that were stored after this are left for the next read, if there are several streams. */
  horizon: number;
  /**
   * A later time of storage comes from a clock that is wrong. Such a request, and with it its stream, does not wait until that time has
   * come: it counts as stored at the horizon.
   */
  latest: number;
};

export type ForwardRead = {
  /** Undefined when nothing is left up to the horizon. */
  next(): Promise<(StoredEvents & { stream: number }) | undefined>;
  /** Where to go on after the requests that `next` returned. */
  places(): FeedPosition;
  /** Whether nothing is stored beyond the last request. */
  isAtEnd(): boolean;
  /** Requests that follow the places may have been removed before they were read: the retention ended. */
  hasGap: boolean;
};

const READ_AT_ONCE = 64;

type Tape = { stream: number; from: number; last: number; held: StoredEvents[]; isEmpty: boolean; hasGap: boolean };

export async function readForwards(reader: EventReader, range: ForwardRange): Promise<ForwardRead> {
  const tapes: Tape[] = [];
  for (let stream = 0; stream < reader.streams; stream += 1) tapes.push(await openTape(reader, range, stream));
  const fill = async (tape: Tape) => {
    if (tape.held.length > 0 || tape.isEmpty) return;
    const { stream, from } = tape;
    tape.held = await reader.read({ stream, sourceId: range.sourceId, from: Math.max(1, from) }, READ_AT_ONCE);
    tape.isEmpty = tape.held.length === 0;
    // The stream ended there before it was read, and nothing of this source was left: other sources' requests are passed over.
    if (tape.isEmpty) tape.from = Math.max(from, tape.last === 0 ? from : tape.last + 1);
  };
  return {
    hasGap: tapes.some((tape) => tape.hasGap),
    isAtEnd: () => tapes.every(({ isEmpty }) => isEmpty),
    places: () => tapes.map(({ from }) => from),
    async next() {
      for (const tape of tapes) await fill(tape);
      const oldest = tapes.reduce((one, other) => (timeOf(other, range) < timeOf(one, range) ? other : one));
      if (reader.streams > 1 && timeOf(oldest, range) > range.horizon) return undefined;
      const request = oldest.held.shift();
      if (request === undefined) return undefined;
      oldest.from = request.sequence + 1;
      return { ...request, stream: oldest.stream };
    },
  };
}

async function openTape(reader: EventReader, { sourceId, places, since }: ForwardRange, stream: number): Promise<Tape> {
  const ends = await reader.ends(stream);
  const tape = { stream, last: ends?.last ?? 0, held: [], isEmpty: false, hasGap: false };
  if (places !== undefined) {
    // A stream that was added since then holds only what is newer.
    const from = places[stream] ?? 0;
    if (from === 0 || ends === undefined) return { ...tape, from };
    // A stream that was made anew counts from 1 again.
    const isAnew = from > ends.last + 1;
    return { ...tape, from: isAnew ? ends.first : from, hasGap: isAnew || from < ends.first };
  }
  if (ends === undefined) return { ...tape, from: 0 };
  if (since === undefined) return { ...tape, from: ends.last + 1 };
  return { ...tape, from: (await reader.firstAt(stream, sourceId, since)) ?? ends.last + 1 };
}

function timeOf({ held: [first] }: Tape, { horizon, latest }: ForwardRange): number {
  if (first === undefined) return Infinity;
  return first.storedAt > latest ? horizon : first.storedAt;
}

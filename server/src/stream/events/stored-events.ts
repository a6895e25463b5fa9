import { JetStreamApiCodes, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import { openBreather } from '../../breathe.ts';
import { undefinedIfMissing } from '../nats/engine-errors.ts';
import { eventStreamName, eventSubject, MOST_EVENT_STREAMS } from '../layout/layout.ts';
import { readNext, readSubject } from '../nats/read-subject.ts';
import { ENVELOPE_HEADER, type ReadableCalls, readableCalls } from './request-message.ts';

/** `bytes`: of the whole request, as it is stored. */
export type StoredEvents = { sequence: number; storedAt: number; bytes: number } & ReadableCalls;

/** Where there are several cells: streams have other numbers in their cells, and others again where they are saved. */
export type ReaderCells = {
  count: number;
  /** Of these cells: another one has another key. */
  key: string;
  own(stream: number): number;
  /** As it is saved, which another cell does not change. */
  save(stream: number): number;
  /** Undefined when its cell is not named any more. */
  load(saved: number): number | undefined;
};

/** The requests of one source that are still in the event streams. */
export type EventReader = {
  /** How many streams there are now. */
  readonly streams: number;
  cells?: ReaderCells;
  /** The first and the last sequence of a stream; undefined when it is empty or missing. Both may be another source's. */
  ends(stream: number): Promise<{ first: number; last: number } | undefined>;
  /** The sequence of the first request that was stored at that time or later; undefined when there is none. */
  firstAt(stream: number, sourceId: string, at: number): Promise<number | undefined>;
  /** Requests from a sequence on, oldest first. An empty list means that there are no more. */
  read(place: { stream: number; sourceId: string; from: number }, most: number): Promise<StoredEvents[]>;
};

/** The number that a stream has in its cell: deliver knows no other. */
export function ownStream({ cells }: Pick<EventReader, 'cells'>, stream: number): number {
  return cells?.own(stream) ?? stream;
}

/** A stream that was saved, as it is numbered now; undefined when its cell is not named any more, also when no other cell is. */
export function loadStream({ cells }: Pick<EventReader, 'cells'>, saved: number): number | undefined {
  if (cells !== undefined) return cells.load(saved);
  return saved < MOST_EVENT_STREAMS ? saved : undefined;
}

export type EventReaderNeeds = { manager: JetStreamManager; streams(): number };

export function openEventReader({ manager, streams }: EventReaderNeeds): EventReader {
  const placeOf = (stream: number, sourceId: string, from: number) => ({
    stream: eventStreamName(stream),
    subject: eventSubject(stream, sourceId),
    from,
  });
  return {
    get streams() {
      return streams();
    },
    ends: (stream) => endsOf(manager, stream),
    async firstAt(stream, sourceId, at) {
      const ends = await endsOf(manager, stream);
      if (ends === undefined) return undefined;
      const next = (from: number) => readNext(manager, placeOf(stream, sourceId, from));
      return findFirst({ ...ends, at }, next);
    },
    async read({ stream, sourceId, from }, most) {
      const found = await readSubject(manager, placeOf(stream, sourceId, from), most);
      const requests: StoredEvents[] = [];
      const breathe = openBreather();
      for (const message of found) {
        const { events, places, computed } = readableCalls(message.header.get(ENVELOPE_HEADER), message.data);
        const place = { sequence: message.seq, storedAt: message.time.getTime(), bytes: message.data.length };
        requests.push({ ...place, events, places, ...(computed && { computed }) });
        await breathe();
      }
      return requests;
    },
  };
}

async function endsOf(manager: JetStreamManager, stream: number): Promise<{ first: number; last: number } | undefined> {
  const gone = undefinedIfMissing(JetStreamApiCodes.StreamNotFound);
  const info = await manager.streams.info(eventStreamName(stream)).catch(gone);
  // An earlier setting left it behind, and a start of another process deleted it when it was empty.
  if (info === undefined || info.state.messages === 0) return undefined;
  return { first: Math.max(1, info.state.first_seq), last: info.state.last_seq };
}

type Sought = { first: number; last: number; at: number };

/** Binary search: later sequences have later times. Sequences between two requests of the source count as the later one. */
async function findFirst(
  { first, last, at }: Sought,
  next: (from: number) => Promise<StoredMsg | undefined>,
): Promise<number | undefined> {
  let [low, high] = [first, last];
  let found: number | undefined;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const message = await next(middle);
    if (message === undefined || message.time.getTime() >= at) {
      found = message?.seq ?? found;
      high = middle - 1;
    } else {
      low = message.seq + 1;
    }
  }
  return found;
}

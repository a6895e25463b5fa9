/** Event streams in memory, as compute processes see those of NATS, with a clock that a test can move. */
import { EventEmitter, once } from 'node:events';
import type { AcceptedEvent } from '@millrace/contract';
import type { BatchReader, BatchRequest, ReadBatch } from '../../src/stream/events/read-batches.ts';
import type { ComputeSide } from '../../src/stream/open-compute-side.ts';
import type { ComputedChange } from '../../src/stream/signals/computed.ts';

export type MemoryStreams = {
  now(): number;
  /** The clock jumps ahead. */
  pass(ms: number): void;
  append(stream: string, sourceId: string, events: AcceptedEvent[]): void;
  /** Removes the oldest requests of a stream. */
  trim(stream: string, count: number): void;
  /** The same requests in a stream of a new creation, from another sequence on. */
  remake(stream: string): void;
  last(stream: string): number;
  /** The next requests after a place. */
  read(stream: string, after: { sequence: number }, most: number): BatchRequest[];
  /** One for each process. */
  side(processes: number): ComputeSide;
};

type MemoryStream = { createdAt: number; first: number; requests: BatchRequest[] };
const BATCH = 20;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openMemoryStreams(names: readonly string[]): MemoryStreams {
  const changed = new EventEmitter().setMaxListeners(0);
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  const streams = new Map(names.map((name) => [name, newStream(now(), 1)]));
  const find = (name: string): MemoryStream => {
    const found = streams.get(name);
    if (found === undefined) throw new Error(`there is no stream ${name}`);
    return found;
  };
  const lastOf = ({ first, requests }: MemoryStream) => first + requests.length - 1;

  function batches({ stream, position: begin, isWanted }: Parameters<ComputeSide['batches']>[0]): BatchReader {
    let position = begin;
    async function next(waitMs: number): Promise<ReadBatch | undefined> {
      const signal = AbortSignal.timeout(Math.max(1, waitMs));
      const isEnd = () => lastOf(find(stream)) <= position.sequence;
      while (isEnd() && !signal.aborted) await once(changed, stream, { signal }).catch(() => undefined);
      const { createdAt, first, requests } = find(stream);
      if (createdAt !== position.createdAt) return undefined;
      const taken = requests.filter(({ sequence }) => sequence > position.sequence).slice(0, BATCH);
      const isTrimmed = taken.length > 0 && first > position.sequence + 1;
      const gaps = isTrimmed ? [{ from: position.sequence + 1, through: first - 1 }] : [];
      const { sequence, storedAt } = taken.at(-1) ?? position;
      position = { ...position, sequence, storedAt };
      const wanted = taken.filter(({ sourceId }) => isWanted(sourceId));
      const skipped = { unreadable: 0, newer: 0 };
      return { requests: wanted, position, gaps, skipped, endSeenMs: isEnd() ? performance.now() : undefined };
    }
    return { next, [Symbol.asyncDispose]: () => Promise.resolve() };
  }

  return {
    now,
    pass(ms) {
      offsetMs += ms;
    },
    append(stream, sourceId, events) {
      const found = find(stream);
      found.requests.push({ sourceId, sequence: lastOf(found) + 1, storedAt: now(), events });
      changed.emit(stream);
    },
    trim(stream, count) {
      const found = find(stream);
      const gone = found.requests.splice(0, count);
      found.first += gone.length;
    },
    remake(stream) {
      const { requests } = find(stream);
      const anew = newStream(now(), 1);
      anew.requests = requests.map((request, at) => ({ ...request, sequence: at + 1 }));
      streams.set(stream, anew);
      changed.emit(stream);
    },
    last: (stream) => lastOf(find(stream)),
    read: (stream, after, most) =>
      find(stream)
        .requests.filter(({ sequence }) => sequence > after.sequence)
        .slice(0, most),
    side: (processes) => ({
      now,
      streams: () => Promise.resolve([...streams.keys()]),
      findPlace(stream, known) {
        const found = find(stream);
        const { createdAt, requests } = found;
        const end = { createdAt, sequence: lastOf(found), storedAt: requests.at(-1)?.storedAt ?? 0 };
        const there = requests.find(({ sequence }) => sequence === known?.sequence) ?? known;
        const isSame = known?.createdAt === createdAt && known.sequence <= end.sequence;
        if (isSame && there?.storedAt === known?.storedAt) return Promise.resolve({ place: known, isAnew: false });
        if (known === undefined) return Promise.resolve({ place: end, isAnew: false });
        const before = requests.findLast(({ storedAt }) => storedAt <= known.storedAt);
        const place = { createdAt, sequence: before?.sequence ?? 0, storedAt: before?.storedAt ?? 0 };
        return Promise.resolve({ place, isAnew: true });
      },
      batches,
      floors: {
        put: () => Promise.resolve(true),
        remove: () => Promise.resolve(true),
        read: () => Promise.resolve(undefined),
      },
      load: () => Promise.resolve({ waiting: 0, unfinished: 0, fill: 0 }),
      processes: () => processes,
      tellChanged: (change: ComputedChange) => void changed.emit('told', change),
      onChanged(told: (change: ComputedChange) => void) {
        changed.on('told', told);
        return { [Symbol.dispose]: () => void changed.off('told', told) };
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  };
}

function newStream(createdAt: number, first: number): MemoryStream {
  return { createdAt: Math.floor(createdAt), first, requests: [] };
}

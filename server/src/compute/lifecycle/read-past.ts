/** Reads what the streams still hold of a workspace from before its readers began, oldest first in each stream. */
import type { BatchRequest } from '../../stream/events/read-batches.ts';
import type { FoldingStartRow } from '../../store/definitions/definition-changes.ts';
import type { JobNeeds } from './life-needs.ts';

export type PastBatch = {
  stream: string;
  requests: BatchRequest[];
  /** After the batch. */
  sequence: number;
  storedAt: number;
  /** Requests from before this time are gone; undefined while nothing is missing. */
  missingUntil: number | undefined;
};

/** Where to begin in each stream: after the last message that was read. */
export type PlacesRead = Readonly<Record<string, { sequence: number; storedAt: number }>>;

/** A stream was made anew while it was read, and its reader has not begun in the new one: the job is tried again. */
export class StreamChanged extends Error {
  override readonly name = 'StreamChanged';
}

const WAIT_MS = 500;

export type PastToRead = { workspaceId: string; starts: readonly FoldingStartRow[]; readThrough?: PlacesRead };

export async function* readPast({ starts, ...past }: PastToRead, needs: JobNeeds): AsyncGenerator<PastBatch> {
  for (const [stream, ofStream] of Map.groupBy(starts, (start) => start.stream)) {
    const end = await endOf(stream, ofStream, needs);
    const before = past.readThrough?.[stream];
    // It was read in a stream that is no more.
    const from = before !== undefined && ofStream.length > 1 ? undefined : before;
    if (end !== undefined) yield* readStream({ ...past, stream, end, from }, needs);
  }
}

/** `sequence`: the first that is not past. `storedThrough`: later messages were folded in the stream before this one. */
type PastEnd = Pick<FoldingStartRow, 'createdAt' | 'sequence' | 'storedAt' | 'left'> & { storedThrough: number };

/**
 * In a stream that was made anew the same messages may have other sequences. Those of before the first start are past there too; the
 * others have been folded. Undefined: the stream is gone.
 */
async function endOf(
  stream: string,
  starts: readonly FoldingStartRow[],
  { side }: JobNeeds,
): Promise<PastEnd | undefined> {
  const now = await side.findPlace(stream, undefined);
  if (now === undefined) return undefined;
  const start = starts.find(({ createdAt }) => createdAt === now.place.createdAt);
  if (start === undefined) throw new StreamChanged(`${stream} was made anew`);
  const first = starts.reduce((one, other) => (other.createdAt < one.createdAt ? other : one));
  return { ...start, storedThrough: first === start ? Number.POSITIVE_INFINITY : first.storedAt };
}

type StreamPast = {
  workspaceId: string;
  stream: string;
  end: PastEnd;
  from: { sequence: number; storedAt: number } | undefined;
};

async function* readStream({ workspaceId, stream, end, from }: StreamPast, needs: JobNeeds): AsyncGenerator<PastBatch> {
  const { side, sources } = needs;
  const isWanted = (sourceId: string) => {
    const owner = sources.workspaceOf(sourceId);
    return owner === undefined ? sources.isWanted(sourceId) : owner === workspaceId;
  };
  const begin = from ?? { sequence: 0, storedAt: 0 };
  const left = new Set(end.left);
  await using reader = side.batches({ stream, position: { createdAt: end.createdAt, ...begin, left: [] }, isWanted });
  for (let at = begin; at.sequence + 1 < end.sequence; ) {
    const batch = await reader.next(WAIT_MS);
    await needs.turn();
    if (batch === undefined) throw new StreamChanged(`${stream} was made anew`);
    const { position, requests, gaps, endSeenMs } = batch;
    const isOver = position.sequence === at.sequence && endSeenMs !== undefined;
    if (position.sequence === at.sequence && !isOver) continue;
    await sources.learn(requests.map(({ sourceId }) => sourceId));
    const past = requests.filter(
      ({ sequence, storedAt, sourceId }) =>
        sequence < end.sequence &&
        storedAt <= end.storedThrough &&
        !left.has(sequence) &&
        sources.workspaceOf(sourceId) === workspaceId,
    );
    // Requests that were removed one by one, such as those of erased users, leave gaps too: only the first one was trimmed.
    const isTrimmed = isOver || gaps.some((gap) => gap.from === at.sequence + 1 && at === begin);
    const firstAt = Math.min(requests[0]?.storedAt ?? position.storedAt, end.storedAt);
    const missingUntil = isTrimmed ? (isOver ? end.storedAt : firstAt) : undefined;
    at =
      isOver || position.sequence >= end.sequence ? { sequence: end.sequence - 1, storedAt: end.storedAt } : position;
    yield { stream, requests: past, sequence: at.sequence, storedAt: at.storedAt, missingUntil };
  }
}

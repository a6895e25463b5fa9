/** Reads what the streams still hold of a workspace from before its readers began, oldest first in each stream. */
import type { BatchRequest, ReadBatch } from '../../stream/events/read-batches.ts';
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

/** A stream was made anew while it was read: the job is tried again, and finds its place in the new one. */
export class StreamChanged extends Error {
  override readonly name = 'StreamChanged';
}

const WAIT_MS = 500;

export type PastToRead = { workspaceId: string; starts: readonly FoldingStartRow[]; readThrough?: PlacesRead };

export async function* readPast(past: PastToRead, needs: JobNeeds): AsyncGenerator<PastBatch> {
  const { workspaceId, readThrough = {} } = past;
  for (const start of firstStarts(past.starts)) {
    const { stream } = start;
    const before = readThrough[stream] ?? { sequence: 0, storedAt: 0 };
    const end = await endOf(start, needs);
    if (!end.isWhole) yield { stream, requests: [], ...before, missingUntil: end.storedAt };
    const from = await needs.side.findPlace(stream, { ...before, createdAt: end.createdAt });
    if (from !== undefined) yield* readStream({ workspaceId, stream, end, from: from.place }, needs);
  }
}

/** Of each stream of which something is past. An older version has noted a second start in a stream that was made anew. */
function firstStarts(starts: readonly FoldingStartRow[]): FoldingStartRow[] {
  return [...Map.groupBy(starts, ({ stream }) => stream).values()]
    .map((own) => own.reduce((one, other) => (other.createdAt < one.createdAt ? other : one)))
    .filter(({ sequence }) => sequence > 1);
}

/** `isWhole`: the messages before the start are there, or were trimmed. `sequence` is the first that is not past. */
type PastEnd = Pick<FoldingStartRow, 'createdAt' | 'sequence' | 'storedAt' | 'left'> & { isWhole: boolean };

/**
 * NATS may take a stream that was restored for another one; the messages before the start still have their sequences. A stream that was
 * made anew without them, or from an older backup, lacks the last message before the start, and perhaps others: there the past is every
 * message that NATS stored up to that time, with any sequence. Readers know by their ids which of the other messages they have folded.
 */
async function endOf(start: FoldingStartRow, { side }: JobNeeds): Promise<PastEnd> {
  const { stream, sequence, storedAt } = start;
  const now = await side.findPlace(stream, undefined);
  const createdAt = now?.place.createdAt ?? 0;
  const found = await side.findPlace(stream, { createdAt, sequence: sequence - 1, storedAt });
  if (found !== undefined && found.place.createdAt !== createdAt) throw new StreamChanged(`${stream} was made anew`);
  if (found?.isAnew === false) return { ...start, createdAt, isWhole: true };
  return { createdAt, sequence: Number.POSITIVE_INFINITY, storedAt, left: [], isWhole: false };
}

type Place = { sequence: number; storedAt: number };
type StreamPast = { workspaceId: string; stream: string; end: PastEnd; from: Place };

async function* readStream({ workspaceId, stream, end, from }: StreamPast, needs: JobNeeds): AsyncGenerator<PastBatch> {
  const { side, sources } = needs;
  const isWanted = (sourceId: string) => {
    const owner = sources.workspaceOf(sourceId);
    return owner === undefined ? sources.isWanted(sourceId) : owner === workspaceId;
  };
  const { sequence: begin, storedAt } = from;
  const position = { createdAt: end.createdAt, sequence: begin, storedAt, left: [] };
  await using reader = side.batches({ stream, position, isWanted });
  for (let at = from; !isReached(at, end); ) {
    const batch = await reader.next(WAIT_MS);
    await needs.turn();
    if (batch === undefined) throw new StreamChanged(`${stream} was made anew`);
    const isEnd = batch.position.sequence === at.sequence;
    if (isEnd && batch.endSeenMs === undefined) continue;
    await sources.learn(batch.requests.map(({ sourceId }) => sourceId));
    const requests = batch.requests.filter(
      (each) => isPast(each, end) && sources.workspaceOf(each.sourceId) === workspaceId,
    );
    at = isEnd || isReached(batch.position, end) ? lastOf(batch, end) : batch.position;
    const missingUntil = isEnd ? end.storedAt : trimmedUntil(batch, end);
    yield { stream, requests, sequence: at.sequence, storedAt: at.storedAt, missingUntil };
    if (isEnd) return;
  }
}

function isReached({ sequence, storedAt }: Place, end: PastEnd): boolean {
  return sequence + 1 >= end.sequence || (!end.isWhole && storedAt > end.storedAt);
}

function isPast({ sequence, storedAt }: BatchRequest, end: PastEnd): boolean {
  if (!end.isWhole) return storedAt <= end.storedAt;
  return sequence < end.sequence && !end.left.includes(sequence);
}

function lastOf({ position }: ReadBatch, { isWhole, sequence, storedAt }: PastEnd): Place {
  return isWhole ? { sequence: sequence - 1, storedAt } : position;
}

/** No process removes single requests, so trimming made the gap: before this read began, or since then. */
function trimmedUntil({ gaps, requests, position }: ReadBatch, end: PastEnd): number | undefined {
  const gap = gaps.findLast(({ from }) => from < end.sequence);
  if (gap === undefined) return undefined;
  const next = requests.find(({ sequence }) => sequence > gap.through);
  return Math.min(next?.storedAt ?? position.storedAt, end.storedAt);
}

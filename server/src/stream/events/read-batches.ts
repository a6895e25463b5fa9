/**
 * The events of one event stream in batches, for a reader that keeps its own position: from the position on, in order, each request
 * once. A request that this version cannot read is passed over: deliver puts an unreadable one into quarantine, and if an operator
 * puts it back, it comes again as a new request. A request of a newer format is left: its sequence stays in the position until a process
 * reads it that knows the format. Requests that were removed before they were read are told as a gap.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AcceptedEvent } from '@millrace/contract';
import type { JetStreamManager } from '@nats-io/jetstream';
import { openBreather } from '../../breathe.ts';
import { readEnvelope, readRequest } from '../../domain/read-request.ts';
import type { Logger } from '../../log.ts';
import { sourceOfEvents } from '../layout/layout.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { type FollowedMessage, type Follower, followStream } from '../nats/follow-stream.ts';
import { readAt } from '../nats/read-subject.ts';
import type { StreamPlace } from '../nats/stream-place.ts';
import { ENVELOPE_HEADER } from './request-message.ts';

/** Everything up to the place has been read, but for the sequences in `left`: those requests need a newer process. */
export type ReadPosition = StreamPlace & { left: readonly number[] };

export type BatchRequest = { sourceId: string; sequence: number; storedAt: number; events: AcceptedEvent[] };

/** Sequences that were removed before they were read. */
export type ReadGap = { from: number; through: number };

export type ReadBatch = {
  requests: BatchRequest[];
  /** After the batch. */
  position: ReadPosition;
  gaps: ReadGap[];
  /** Requests, or calls of them, that were passed over. */
  skipped: { unreadable: number; newer: number };
  /** When it was last known that the stream has nothing behind the batch, by the monotonic clock; undefined when it has. */
  endSeenMs: number | undefined;
};

export type BatchReader = AsyncDisposable & {
  /** The next batch. It is empty when nothing came for `waitMs`, and undefined when the stream was made anew. */
  next(waitMs: number): Promise<ReadBatch | undefined>;
};

export type BatchNeeds = {
  connection: Connection;
  manager: JetStreamManager;
  stream: string;
  position: ReadPosition;
  /** Whether the events of a source are wanted. The requests of others are passed over without being read. */
  isWanted(sourceId: string): boolean;
  /** Sequences in `left` that need not be tried again. */
  triedInVain?: ReadonlySet<number>;
  log: Logger;
};

/** A batch is closed by its events, by its bytes, or by this time after its first request. */
const MOST = { events: 1_000, bytes: 4_194_304 };
const GATHER_MS = 50;
/** With more left for a newer process, the reader stops: nearly everything is for that process then. */
export const MOST_LEFT = 1_000;

export function openBatches(needs: BatchNeeds): BatchReader {
  const follower = followStream({ ...needs, after: needs.position });
  let { position } = needs;
  let isFirst = true;
  let isHeldUp = false;

  function noteHeldUp({ position: { left } }: Batch): void {
    if (!isHeldUp) needs.log.error({ stream: needs.stream, left: left.length }, 'batches.held_up');
    isHeldUp = true;
  }

  return {
    async next(waitMs) {
      const batch = newBatch(position);
      if (isFirst) await readLeft(batch, needs);
      isFirst = false;
      if (isHeldUp) await sleep(waitMs);
      if (isUntouched(batch)) await follower.arrival(waitMs);
      const isWhole = await gather(batch, follower, needs);
      if (!isWhole) noteHeldUp(batch);
      if (isUntouched(batch) && follower.isAnew()) return undefined;
      position = batch.position;
      // Another process reads on from a request that stops this one.
      batch.endSeenMs = isHeldUp ? performance.now() : follower.endSeenMs();
      const { size: _, before: __, ...read } = batch;
      return read;
    },
    [Symbol.asyncDispose]: () => follower[Symbol.asyncDispose](),
  };
}

type Batch = ReadBatch & { size: { events: number; bytes: number }; before: ReadPosition };

function newBatch(position: ReadPosition): Batch {
  const nothing = { requests: [], gaps: [], skipped: { unreadable: 0, newer: 0 }, endSeenMs: undefined };
  return { ...nothing, position, before: position, size: { events: 0, bytes: 0 } };
}

function isUntouched({ position, before }: Batch): boolean {
  return position === before;
}

/** Takes the messages that are there, and those that come soon after. False when a request has to be left, and too many are. */
async function gather(batch: Batch, follower: Follower, needs: BatchNeeds): Promise<boolean> {
  const untilMs = performance.now() + GATHER_MS;
  const breathe = openBreather();
  while (batch.size.events < MOST.events && batch.size.bytes < MOST.bytes) {
    const message = follower.head();
    const restMs = untilMs - performance.now();
    if (message === undefined) {
      if (restMs <= 0 || isUntouched(batch)) return true;
      await follower.arrival(restMs);
      continue;
    }
    if (!takeMessage(batch, message, needs)) return false;
    follower.shift();
    await breathe();
    if (restMs <= 0) return true;
  }
  return true;
}

/** False when it has to be left for a newer process, and too many are. */
function takeMessage(batch: Batch, message: FollowedMessage, needs: BatchNeeds): boolean {
  const { sequence, storedAt, data } = message;
  const { position } = batch;
  const envelope = message.headers?.get(ENVELOPE_HEADER) ?? '';
  const read = readIfWanted(message.subject, envelope, data, needs);
  const isLeft = read === 'newer';
  if (isLeft && position.left.length >= MOST_LEFT) return false;
  if (sequence > position.sequence + 1) batch.gaps.push({ from: position.sequence + 1, through: sequence - 1 });
  batch.position = { ...position, sequence, storedAt, left: isLeft ? [...position.left, sequence] : position.left };
  add(batch, { sequence, storedAt, bytes: data.length }, read);
  return true;
}

type Place = { sequence: number; storedAt: number; bytes: number };

function add(batch: Batch, { sequence, storedAt, bytes }: Place, read: ReadOne): void {
  if (read === 'newer') batch.skipped.newer += 1;
  else if (read === 'unreadable') batch.skipped.unreadable += 1;
  else if (read !== 'unwanted') {
    batch.skipped.unreadable += read.unreadable;
    batch.size.events += read.events.length;
    batch.size.bytes += bytes;
    batch.requests.push({ sourceId: read.sourceId, sequence, storedAt, events: read.events });
  }
}

type ReadOne =
  | { sourceId: string; events: AcceptedEvent[]; unreadable: number }
  | 'newer'
  | 'unreadable'
  /** Of a source that is not asked for, or computed: a computed call that counted could cause itself for ever. */
  | 'unwanted';

/** The envelope alone tells what need not be parsed. */
function readIfWanted(subject: string, envelope: string, body: Uint8Array, { isWanted }: BatchNeeds): ReadOne {
  const sourceId = sourceOfEvents(subject);
  if (!isWanted(sourceId)) return 'unwanted';
  const known = readEnvelope(envelope);
  if (!known.ok) return known.problem;
  if (known.value.computed !== undefined) return 'unwanted';
  const read = readRequest(envelope, body);
  if (!read.ok) return read.problem;
  return { sourceId, events: read.value.events, unreadable: read.value.unreadable.length };
}

/** A new process may know the format of requests that the one before it had to leave. */
async function readLeft(batch: Batch, needs: BatchNeeds): Promise<void> {
  const { manager, stream, triedInVain } = needs;
  const still: number[] = [];
  for (const sequence of batch.position.left) {
    if (triedInVain?.has(sequence) === true) {
      still.push(sequence);
      continue;
    }
    const message = await readAt(manager, stream, sequence);
    if (message === undefined) {
      batch.gaps.push({ from: sequence, through: sequence });
      continue;
    }
    const read = readIfWanted(message.subject, message.header.get(ENVELOPE_HEADER), message.data, needs);
    if (read === 'newer') still.push(sequence);
    else add(batch, { sequence, storedAt: message.time.getTime(), bytes: message.data.length }, read);
  }
  if (still.length < batch.position.left.length) batch.position = { ...batch.position, left: still };
}

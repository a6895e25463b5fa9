import { JetStreamApiError, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';

export type SubjectPlace = { stream: string; subject: string; from: number };

/** Bounds what one read brings into memory. */
const READ_BYTES = 4_194_304;
/** A server that dies in the middle of its answer says nothing more. Its messages come within milliseconds of each other. */
const IDLE_MS = 5_000;

/**
 * Messages of one subject from a sequence on, oldest first. Read from any replica, because that is fast; an empty list comes from
 * the leader, because a replica may lag.
 */
export async function readSubject(manager: JetStreamManager, place: SubjectPlace, most: number): Promise<StoredMsg[]> {
  const found = await readReplica(manager, place, most);
  if (found.length > 0) return found;
  const next = await readNext(manager, place);
  return next === undefined ? [] : [next];
}

/** The same from the replica that answers first. An empty list proves nothing, and dropped messages may still be there. */
export async function readReplica(manager: JetStreamManager, place: SubjectPlace, most: number): Promise<StoredMsg[]> {
  try {
    return await readBatch(manager, place, most);
  } catch (error) {
    if (isNothingFound(error)) return [];
    throw error;
  }
}

/**
 * The next messages of a subject, from any replica. With a callback, the library gives up its subscription when
 * the batch ends; with its iterator instead, each read leaves a subscription in this process and in NATS.
 */
export async function readBatch(
  manager: Pick<JetStreamManager, 'direct'>,
  { stream, subject, from }: SubjectPlace,
  most: number,
  idleMs = IDLE_MS,
): Promise<StoredMsg[]> {
  const found: StoredMsg[] = [];
  const ended = Promise.withResolvers<void>();
  const batch = await manager.direct.getBatch(stream, {
    seq: from,
    next_by_subj: subject,
    batch: most,
    max_bytes: READ_BYTES,
    callback(end, message) {
      idle.refresh();
      if (end === null) found.push(message);
      else if (end.err === undefined) ended.resolve();
      else ended.reject(end.err);
    },
  });
  const idle = setTimeout(() => batch.stop(new errors.TimeoutError()), idleMs);
  await ended.promise.finally(() => clearTimeout(idle));
  return found;
}

/** The first message of a subject from a sequence on, from the leader. */
export async function readNext(
  manager: JetStreamManager,
  { stream, subject, from }: SubjectPlace,
): Promise<StoredMsg | undefined> {
  // The server knows the question, the library's type of it does not.
  const asked = { seq: from, next_by_subj: subject } as { seq: number };
  return foundOrNot(manager.streams.getMessage(stream, asked));
}

/** The first message of a stream that was stored at a time or later, from the leader. */
export function readNextSince(manager: JetStreamManager, stream: string, at: number): Promise<StoredMsg | undefined> {
  const asked = { start_time: new Date(at).toISOString(), next_by_subj: '>' };
  return foundOrNot(manager.streams.getMessage(stream, asked as unknown as { seq: number }));
}

/** One message, from the leader. */
export function readAt(manager: JetStreamManager, stream: string, seq: number): Promise<StoredMsg | undefined> {
  return foundOrNot(manager.streams.getMessage(stream, { seq }));
}

/** The last message of a subject, from the leader. */
export function readLast(manager: JetStreamManager, stream: string, subject: string): Promise<StoredMsg | undefined> {
  return foundOrNot(manager.streams.getMessage(stream, { last_by_subj: subject }));
}

export type Removal = {
  stream: string;
  seq: number;
  /** Also overwrites its bytes on the disk, which takes far longer. */
  isErased: boolean;
};

/** Resolves also when it was gone already. */
export async function removeAt(manager: JetStreamManager, { stream, seq, isErased }: Removal): Promise<void> {
  try {
    await manager.streams.deleteMessage(stream, seq, isErased);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** A server whose store no longer knows the message answers with a general code and says why in words. */
function isGone(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  const { code, message } = error;
  return (
    [SEQUENCE_NOT_FOUND, NO_MESSAGE_FOUND].includes(code) || (code === DELETE_FAILED && /not? .*found/.test(message))
  );
}

const SEQUENCE_NOT_FOUND = 10_043;
const NO_MESSAGE_FOUND = 10_037;
const DELETE_FAILED = 10_057;

async function foundOrNot(asked: Promise<StoredMsg | null>): Promise<StoredMsg | undefined> {
  try {
    return (await asked) ?? undefined;
  } catch (error) {
    if (isNothingFound(error)) return undefined;
    throw error;
  }
}

function isNothingFound(error: unknown): boolean {
  const { status, code } = error as { status?: number; code?: number };
  return (status ?? code) === 404 || (error instanceof JetStreamApiError && error.code === NO_MESSAGE_FOUND);
}

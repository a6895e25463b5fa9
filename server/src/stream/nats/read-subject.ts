import { JetStreamApiError, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import { type BatchPlace, readBatch } from './read-batch.ts';

export type SubjectPlace = BatchPlace;

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

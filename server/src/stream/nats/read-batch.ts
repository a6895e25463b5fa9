import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';

export type BatchPlace = { stream: string; subject: string; from: number };

/** Bounds what one read brings into memory. */
const READ_BYTES = 4_194_304;
/** A server that dies in the middle of its answer says nothing more. Its messages come within milliseconds of each other. */
const IDLE_MS = 5_000;

/**
 * The next messages of a subject, from any replica. With a callback, the library gives up its subscription when
 * the batch ends; with its iterator instead, each read leaves a subscription in this process and in NATS.
 */
export async function readBatch(
  manager: Pick<JetStreamManager, 'direct'>,
  { stream, subject, from }: BatchPlace,
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

/**
 * A snapshot ends at the last sequence of its start, and leaves out the messages that are removed while it runs. A delivery that
 * moves meanwhile is stored again with a higher sequence first and removed then. So the backup reads everything from the end of the
 * snapshot on until nothing follows. A delivery that lives at that moment has not moved and is in the snapshot, or was read here.
 */
import type { JetStreamManager } from '@nats-io/jetstream';
import { readSubject } from '../nats/read-subject.ts';

export type SupplementMessage = {
  /** In the stream that it was read from; the restored message has another one. */
  sequence: number;
  subject: string;
  /** By name and value, without those that are for the engine. */
  headers: (readonly [name: string, value: string])[];
  payload: Uint8Array;
};

export type SupplementNeeds = {
  /** The first sequence to read. */
  from: number;
  take(message: SupplementMessage): Promise<void>;
};

const READ_AT_ONCE = 256;

/** Resolves with the first sequence that was not read. */
export async function readSupplement(
  manager: JetStreamManager,
  stream: string,
  { from, take }: SupplementNeeds,
): Promise<number> {
  for (let next = from; ; ) {
    // An empty list is the answer of the leader: there is nothing more.
    const found = await readSubject(manager, { stream, subject: '>', from: next }, READ_AT_ONCE);
    if (found.length === 0) return next;
    for (const { seq: sequence, subject, header, data: payload } of found) {
      const own = header.keys().filter((name) => !name.startsWith('Nats-'));
      await take({ sequence, subject, headers: own.map((name) => [name, header.get(name)] as const), payload });
      next = sequence + 1;
    }
  }
}

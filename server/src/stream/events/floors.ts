/**
 * How far compute has read each event stream, in the bucket `floors`: an entry for each stream while there are definitions, none
 * without. Requests above the floor are kept when the stream is trimmed, until it is nearly full. The position itself is in
 * PostgreSQL: a floor that is older than it keeps more than is needed.
 */
import type { JetStreamManager } from '@nats-io/jetstream';
import { type Floor, readFloorText } from '../../domain/read-floor.ts';
import { FORMATS } from '../../domain/format.ts';
import { bucketStream, bucketSubject, FLOORS_BUCKET } from '../layout/layout.ts';
import { type DurableNeeds, publishDurably } from '../nats/publish-durably.ts';
import { readLast } from '../nats/read-subject.ts';

export type Floors = {
  /** False when NATS did not take it. */
  put(stream: string, floor: Floor): Promise<boolean>;
  /** Resolves also when there was none; false when NATS did not take it. */
  remove(stream: string): Promise<boolean>;
  read(stream: string): Promise<Floor | undefined>;
};

export function openFloors({ manager, ...needs }: DurableNeeds & { manager: JetStreamManager }): Floors {
  const subject = (stream: string) => bucketSubject(FLOORS_BUCKET, stream);
  return {
    async put(stream, floor) {
      const payload = Buffer.from(JSON.stringify({ ...floor, v: FORMATS.floor }));
      return (await publishDurably({ subject: subject(stream), payload }, needs)).kind === 'stored';
    },
    async remove(stream) {
      const headers = [['KV-Operation', 'DEL']] as const;
      const publication = { subject: subject(stream), headers, payload: new Uint8Array() };
      return (await publishDurably(publication, needs)).kind === 'stored';
    },
    read: (stream) => readFloor(manager, stream),
  };
}

/** From the leader. Undefined when compute does not read the stream. For an entry of a newer format, or none of ours, this throws. */
export async function readFloor(manager: JetStreamManager, stream: string): Promise<Floor | undefined> {
  const message = await readLast(manager, bucketStream(FLOORS_BUCKET), bucketSubject(FLOORS_BUCKET, stream));
  if (message === undefined || message.header.get('KV-Operation') !== '') return undefined;
  const read = readFloorText(message.string());
  if (!read.ok) throw new Error(`the floor of ${stream} is ${read.problem}: ${read.why}`);
  return read.value;
}

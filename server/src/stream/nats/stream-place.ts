/**
 * A place in a stream that outlives the stream itself. `millrace restore` brings old messages back: on a single server under the same
 * creation time, and the next messages get sequences that were given before; on several under a new one. So a place also knows when
 * its message was stored, and is found again by that time.
 */
import { JetStreamApiCodes, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import { undefinedIfMissing } from './engine-errors.ts';
import { readAt, readNextSince } from './read-subject.ts';

/** `sequence` and `storedAt` are of the last message before the place; both 0 at the beginning. Times are in milliseconds. */
export type StreamPlace = { createdAt: number; sequence: number; storedAt: number };

/** Servers' clocks differ by less. Messages of this time before a place may come again in a stream that was made anew. */
const SLACK_MS = 60_000;

/** Whether the message of the place is where it was. One that has been removed is believed to be. */
export async function isSamePlace(manager: JetStreamManager, stream: string, place: StreamPlace): Promise<boolean> {
  return isIn(manager, await manager.streams.info(stream), place);
}

async function isIn(
  manager: JetStreamManager,
  { config, created, state }: StreamInfo,
  place: StreamPlace,
): Promise<boolean> {
  if (Date.parse(created) !== place.createdAt || place.sequence > state.last_seq) return false;
  if (place.sequence === 0 || place.sequence < state.first_seq) return true;
  const message = await readAt(manager, config.name, place.sequence);
  return message === undefined || Math.abs(message.time.getTime() - place.storedAt) <= 1;
}

export type FoundPlace = {
  place: StreamPlace;
  /** The stream is not the one of the known place: it was deleted and made again, or restored. */
  isAnew: boolean;
};

/**
 * Where to go on after a known place: there, if it is still the same stream; else after the last message that is older than the
 * place's. Without a known place, at the end. Undefined while there is no such stream.
 */
export async function findPlace(
  manager: JetStreamManager,
  stream: string,
  known: StreamPlace | undefined,
): Promise<FoundPlace | undefined> {
  const info = await manager.streams.info(stream).catch(undefinedIfMissing(JetStreamApiCodes.StreamNotFound));
  if (info === undefined) return undefined;
  if (known !== undefined && (await isIn(manager, info, known))) return { place: known, isAnew: false };
  const { state } = info;
  const createdAt = Date.parse(info.created);
  const end = { createdAt, sequence: state.last_seq, storedAt: timeOf(state.last_ts) };
  if (known === undefined) return { place: end, isAnew: false };
  const from = known.storedAt - SLACK_MS;
  const next = state.messages === 0 ? undefined : await readNextSince(manager, stream, from);
  if (next === undefined) return { place: { ...end, storedAt: end.storedAt || known.storedAt }, isAnew: true };
  const before = next.seq === 1 ? undefined : await readAt(manager, stream, next.seq - 1);
  const storedAt = before === undefined ? Math.max(0, from) : before.time.getTime();
  return { place: { createdAt, sequence: next.seq - 1, storedAt }, isAnew: true };
}

/** The zero time of Go, in an empty stream, is long before 1970. */
function timeOf(text: string): number {
  const at = Date.parse(text);
  return at > 0 ? at : 0;
}

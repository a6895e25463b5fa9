/**
 * Streams that an earlier setting asked for and the present one does not. Deliver, and control of outcomes, reads a surplus stream
 * as long as it exists; a start deletes it when it is empty and no process uses it.
 */
import type { JetStreamManager } from '@nats-io/jetstream';
import { eventStreamIndex, laneStreamIndex, outcomesStreamIndex, type StreamsFound } from './layout.ts';

/** A start gives a stream this subject in place of its own while it takes the stream out of use. */
export const surplusSubject = (name: string): string => `surplus.${name}`;

/** `inUse`: one more than the highest number of each kind that any process may write to. */
export async function deleteEmptySurplus(manager: JetStreamManager, inUse: StreamsFound): Promise<void> {
  const surplus: string[] = [];
  for await (const { config, state } of manager.streams.list()) {
    const isSurplus =
      (eventStreamIndex(config.name) ?? -1) >= inUse.eventStreams ||
      (laneStreamIndex(config.name) ?? -1) >= inUse.laneStreams ||
      (outcomesStreamIndex(config.name) ?? -1) >= inUse.outcomeStreams;
    if (isSurplus && state.messages === 0) surplus.push(config.name);
  }
  for (const name of surplus) await deleteIfEmpty(manager, name);
}

/**
 * A process with the earlier setting may still write to the stream, so its subjects are taken away first, and its messages are
 * counted after that.
 */
async function deleteIfEmpty(manager: JetStreamManager, name: string): Promise<void> {
  await manager.streams.update(name, { subjects: [surplusSubject(name)] });
  const { config, state } = await manager.streams.info(name);
  // Another process may have taken it into use again meanwhile.
  const isOurs = config.subjects?.join() === surplusSubject(name);
  if (isOurs && state.messages === 0) await manager.streams.delete(name);
}

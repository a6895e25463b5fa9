import { nuid } from '@nats-io/nats-core';
import type { Connection } from '../nats/connect-nats.ts';
import { openPublisher } from '../nats/publish.ts';
import { publishDurably } from '../nats/publish-durably.ts';
import { openWaitingLine } from '../nats/waiting-line.ts';
import type { SupplementMessage } from './read-supplement.ts';

/** Stores the messages behind the restored snapshot, each after the answer for the one before: their order stays. */
export async function restoreSupplement(
  connection: Connection,
  messages: AsyncIterable<SupplementMessage>,
): Promise<void> {
  using publisher = openPublisher(connection);
  const needs = { connection, publisher, line: openWaitingLine(1) };
  // The ids are of this restore alone: a message that was published twice for want of an answer is stored once.
  const restore = nuid.next();
  for await (const { sequence, subject, headers, payload } of messages) {
    const answer = await publishDurably({ subject, id: `${restore}/${sequence}`, headers, payload }, needs);
    if (answer.kind !== 'stored') throw new Error(`NATS did not store a message of ${subject}: ${answer.description}`);
  }
}

/** Takes everything of some sources and destinations out of NATS. Safe to repeat. */
import type { JetStreamManager } from '@nats-io/jetstream';
import {
  anyTicketSubject,
  bucketStream,
  bucketSubject,
  DEAD_STREAM,
  deadSubject,
  eventStreamIndex,
  eventSubject,
  HEALTH_BUCKET,
  laneStreamIndex,
  laneSubject,
  TICKETS_STREAM,
  WORKED_BUCKET,
} from '../layout/layout.ts';
import type { QuarantineBox } from '../quarantine/quarantine.ts';

export type WorkspaceNames = { sourceIds: readonly string[]; destinationIds: readonly string[] };

const READ_AT_ONCE = 100;

export async function forgetWorkspace(
  { sourceIds, destinationIds }: WorkspaceNames,
  { manager, quarantine }: { manager: JetStreamManager; quarantine: QuarantineBox },
): Promise<void> {
  const streams = await Array.fromAsync(manager.streams.names());
  const purge = (stream: string, filter: string) => manager.streams.purge(stream, { filter });
  for (const stream of streams) {
    const [events, lanes] = [eventStreamIndex(stream), laneStreamIndex(stream)];
    if (events !== undefined) for (const id of sourceIds) await purge(stream, eventSubject(events, id));
    if (lanes !== undefined) for (const id of destinationIds) await purge(stream, laneSubject(lanes, id, '*'));
  }
  for (const id of destinationIds) {
    await purge(TICKETS_STREAM, anyTicketSubject(id));
    await purge(DEAD_STREAM, deadSubject(id));
    await purge(bucketStream(HEALTH_BUCKET), bucketSubject(HEALTH_BUCKET, id));
    await purge(bucketStream(WORKED_BUCKET), bucketSubject(WORKED_BUCKET, id));
  }
  await forgetQuarantined(new Set([...sourceIds, ...destinationIds]), quarantine);
}

/** A subject names the source or destination by whole tokens. */
async function forgetQuarantined(ids: ReadonlySet<string>, quarantine: QuarantineBox): Promise<void> {
  for (let from = 1; ; ) {
    const entries = await quarantine.read('*', from, READ_AT_ONCE);
    for (const { sequence, from: origin } of entries) {
      from = sequence + 1;
      if (origin.subject.split('.').some((token) => ids.has(token))) await quarantine.remove(sequence);
    }
    if (entries.length === 0) return;
  }
}

import { jetstreamManager } from '@nats-io/jetstream';
import { FORMAT_HEADER, type Stored, versionProblem } from '../domain/format.ts';
import { type ReadEntries, readOutcomes } from '../domain/read-outcomes.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Connect } from './nats/connect-nats.ts';
import { countQuarantined } from './quarantine/count-quarantined.ts';
import { type AuditAnchors, openAuditAnchors } from './config/audit-anchors.ts';
import { watchHealth } from './deliveries/health-bucket.ts';
import { type LaneIndex, openLaneIndex } from './deliveries/lane-index.ts';
import type { LaneHealth } from '../domain/lane-health.ts';
import { RECORD_CONSUMER, type StreamSettings } from './layout/layout.ts';
import { listEventStreams, listOutcomesStreams } from './nats/list-streams.ts';
import { openPublisher } from './nats/publish.ts';
import { AT_ONCE } from './nats/publish-durably.ts';
import { pull, type PulledMessage, type PullNeeds } from './nats/pull.ts';
import { type HeaderPair, openQuarantine, ownHeaders, type Quarantine } from './quarantine/quarantine.ts';
import { readUsage, type UsageReader } from './events/read-usage.ts';
import { openWaitingLine } from './nats/waiting-line.ts';
import { watchFill } from './nats/watch-fill.ts';

/** A batch of outcomes that this process has to record. */
export type PulledOutcomes = {
  stream: string;
  subject: string;
  sequence: number;
  payload: Uint8Array;
  /** When it was stored, in milliseconds. */
  storedAt: number;
  bytes: number;
  /** The headers that it was stored with. */
  headers: readonly HeaderPair[];
  entries(): Stored<ReadEntries>;
  /** Each of its entries is in PostgreSQL or in quarantine. */
  ack(): void;
  /** Extends the time for the acknowledgement: this process is still at work. */
  stillHeld(): void;
  giveBack(): void;
};

export type OutcomesTaker = Pick<PullNeeds, 'stream' | 'room'> & { taken(batch: PulledOutcomes): void };

/** The parts of NATS that the recorder works with. */
export type RecordSide = AsyncDisposable & {
  /** By the engine's clock. */
  now(): number;
  /** The names of all streams of outcomes that exist. */
  outcomesStreams(): Promise<string[]>;
  pullOutcomes(needs: OutcomesTaker): AsyncDisposable;
  quarantine: Quarantine;
  auditAnchors: AuditAnchors;
  /** All event streams that exist now, in the order of their numbers. */
  usage(): Promise<UsageReader[]>;
  /** A destination's lane as it was last told, or undefined when nothing waits. */
  laneOf(destinationId: string): LaneHealth | undefined;
  lanes: Pick<LaneIndex, 'ofWorkspace' | 'all'>;
};

export type RecordSideNeeds = {
  connect: Connect;
  settings: Pick<StreamSettings, 'retentionMs'>;
  now(): number;
  log: Logger;
  metrics: Metrics;
};

/** A connection of its own: a recorder that has much to catch up with must not delay anything else. */
export async function openRecordSide({ connect, settings, now, log, metrics }: RecordSideNeeds): Promise<RecordSide> {
  await using opening = new AsyncDisposableStack();
  const connection = opening.use(await connect('millrace-record'));
  const publisher = opening.use(openPublisher(connection));
  const durable = { connection, publisher, line: openWaitingLine(AT_ONCE) };
  const manager = await jetstreamManager(connection.nc, { checkAPI: false, timeout: 5_000 });
  const quarantine = countQuarantined(openQuarantine({ ...durable, metrics }), { metrics, log });
  const lanes = openLaneIndex();
  opening.use(await watchHealth({ watching: connection, log }, lanes.set));
  opening.use(watchFill({ connection, retentionMs: settings.retentionMs, metrics, log }));
  const open = opening.move();
  return {
    now,
    usage: async () => (await listEventStreams(manager)).map((stream) => readUsage(connection, stream)),
    outcomesStreams: () => listOutcomesStreams(manager),
    pullOutcomes: ({ stream, room, taken }) =>
      pull({
        connection,
        stream,
        consumer: RECORD_CONSUMER,
        room,
        taken: (message) => takeUnlessNewer(message, taken, quarantine),
        log,
      }),
    quarantine,
    auditAnchors: openAuditAnchors({ ...durable, manager }),
    laneOf: lanes.of,
    lanes,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** After this time a batch of a newer format comes again, to this process or another. */
const LEFT_FOR_MS = 5_000;

function takeUnlessNewer(message: PulledMessage, taken: OutcomesTaker['taken'], quarantine: Quarantine): void {
  const format = message.headers?.get(FORMAT_HEADER) ?? '';
  const unread = versionProblem('outcomes', format);
  if (unread?.problem === 'newer') {
    quarantine.left('outcome', unread.why);
    message.nak(LEFT_FOR_MS);
    return;
  }
  taken({
    stream: message.stream,
    subject: message.subject,
    sequence: message.seq,
    payload: message.data,
    headers: ownHeaders(message.headers),
    storedAt: Number(message.timestampNanos / 1_000_000n),
    bytes: message.data.length,
    entries: () => readOutcomes(message.data, format),
    ack: () => message.ack(),
    stillHeld: () => message.working(),
    giveBack: () => message.nak(),
  });
}

/**
 * Everything that exists in JetStream: every stream, subject, consumer and bucket, in one table.
 * Names made of ids only: text from users never goes into a subject or a header.
 */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';

// As @nats-io/jetstream has them, which scripts/engines cannot import: it renders the NATS users before packages are installed.
const AckPolicy = { Explicit: 'explicit' } as const;
const DiscardPolicy = { New: 'new' } as const;
const RetentionPolicy = { Limits: 'limits', Workqueue: 'workqueue' } as const;
const StorageType = { File: 'file' } as const;
const nanos = (ms: number): number => ms * 1_000_000;

export type StreamSettings = {
  replicas: 1 | 3;
  eventStreams: number;
  laneStreams: number;
  outcomeStreams: number;
  retentionMs: number;
  dedupWindowMs: number;
};

export type StreamPlan = Partial<StreamConfig> & { name: string; subjects: string[]; max_bytes: number };
type Unsized = Omit<StreamPlan, 'max_bytes'>;
export type ConsumerPlan = { stream: string; config: Partial<ConsumerConfig> & { durable_name: string } };
export type BucketPlan = {
  name: string;
  maxBytes: number;
  /** Its keys are forgotten after this time. */
  ttlMs?: number;
};
/** How many streams of a kind exist already, also those that the settings do not ask for any more. */
export type StreamsFound = { eventStreams: number; laneStreams: number; outcomeStreams: number };
export type Layout = { streams: StreamPlan[]; consumers: ConsumerPlan[]; buckets: BucketPlan[] };

export const eventStreamName = (index: number): string => `EVENTS-${index}`;
export const eventSubject = (index: number, sourceId: string): string => `events.${index}.${sourceId}`;
export const streamOfEvents = (subject: string): number => Number(subject.split('.', 2)[1]);
export const sourceOfEvents = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);
export const laneStreamName = (index: number): string => `LANES-${index}`;
/** The number in the name of an event stream or of a lane stream; undefined for any other name. */
export const eventStreamIndex = (name: string): number | undefined => indexIn(name, /^EVENTS-(\d+)$/);
export const laneStreamIndex = (name: string): number | undefined => indexIn(name, /^LANES-(\d+)$/);
export const laneSubject = (index: number, destinationId: string, tier: number | '*'): string =>
  `lanes.${index}.${destinationId}.${tier}`;
export const TICKETS_STREAM = 'TICKETS';
export const ticketAtSubject = (destinationId: string): string => `tickets.at.${destinationId}`;
export const ticketDueSubject = (destinationId: string): string => `tickets.due.${destinationId}`;
/** Urgent tickets, of lanes whose receiver works, have their own consumer. */
export const ticketUrgentSubject = (destinationId: string): string => `tickets.urgent.${destinationId}`;
/** In the metadata of TICKETS, which a restore makes first, until it is done: every role may ask for it, and waits. */
export const RESTORE_MARK = 'millrace-restore';
/** Asks the leader of TICKETS about the stream: the answer carries its time, which every role keeps to. */
export const CLOCK_SUBJECT = `$JS.API.STREAM.INFO.${TICKETS_STREAM}`;
/** Scheduled, due or urgent. */
export const anyTicketSubject = (destinationId: string): string => `tickets.*.${destinationId}`;
export const DEAD_STREAM = 'DEAD';
export const deadSubject = (destinationId: string): string => `dead.${destinationId}`;
/** The first has the name and the subject that versions with one stream know, so that both write to it during an upgrade. */
export const OUTCOMES_STREAM = 'OUTCOMES';
export const outcomesStreamName = (index: number): string => (index === 0 ? OUTCOMES_STREAM : `OUTCOMES-${index}`);
export const outcomesStreamIndex = (name: string): number | undefined =>
  name === OUTCOMES_STREAM ? 0 : indexIn(name, /^OUTCOMES-([1-9]\d*)$/);
export const outcomesSubject = (index: number): string => (index === 0 ? 'outcomes.0' : `outcomes.stream.${index}`);
/** Stored things that a role could not work with, kept for people to look at. */
export const QUARANTINE_STREAM = 'QUARANTINE';
export const QUARANTINED_KINDS = ['request', 'lane', 'ticket', 'outcome', 'letter', 'config', 'health'] as const;
export type QuarantinedKind = (typeof QUARANTINED_KINDS)[number];
export const quarantineSubject = (kind: QuarantinedKind | '*'): string => `quarantine.${kind}`;
/** Ends of the audit logs in PostgreSQL, where a superuser of PostgreSQL cannot change them. */
export const AUDIT_STREAM = 'AUDIT';
export const auditSubject = (workspaceId: string): string => `audit.${workspaceId}`;
export const RECORD_CONSUMER = 'record';
export const DELIVER_CONSUMER = 'deliver';
export const DRAIN_CONSUMER = 'drain';
export const DRAIN_URGENT_CONSUMER = 'drain-urgent';
export const CONFIG_BUCKET = 'config';
export const HEALTH_BUCKET = 'health';
export const WORKED_BUCKET = 'worked';
/** How far compute has read each event stream. */
export const FLOORS_BUCKET = 'floors';
/** The stream behind a bucket, and the subject of one of its keys. */
export const bucketStream = (bucket: string): string => `KV_${bucket}`;
export const bucketSubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;
/** Core messages, never stored: only current subscribers get them. */
export const SEEN_SUBJECT = 'seen';
export const REFUSED_SUBJECT = 'refused';
export const PEERS_SUBJECT = 'deliver.alive';
/** Heartbeats of the processes of all roles, for the operator; compute processes share the streams by them. */
export const ALIVE_SUBJECT = 'process.alive';
/** A compute process has changed memberships that wait to be sent, or control a definition: compute processes look at once. */
export const COMPUTED_SUBJECT = 'compute.changed';
/** A question of control to whichever deliver process takes it, and the subject of its answer. */
export const ASK_SUBJECT = 'deliver.ask';
export const answerSubject = (token: string): string => `deliver.answer.${token}`;
export const tailSubject = (sourceId: string): string => `tail.${sourceId}`;
export const wantSubject = (sourceId: string): string => `tail.want.${sourceId}`;
/** Every server answers how it stores. */
export const SERVERS_SUBJECT = '$SYS.REQ.SERVER.PING.JSZ';
/** Processes tell each other here which layout they use. */
export const LAYOUT_BUCKET = 'layout';

/** The most that MILLRACE_EVENT_STREAMS may ask for. */
export const MOST_EVENT_STREAMS = 64;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Everything that exists with these settings. Sizes come from the servers: stream-sizes.ts. */
export function layout(settings: StreamSettings, bytesOf: (stream: string) => number): Layout {
  const bucket = (name: string) => ({ name, maxBytes: bytesOf(bucketStream(name)) });
  const buckets: BucketPlan[] = [
    bucket(CONFIG_BUCKET),
    bucket(HEALTH_BUCKET),
    { ...bucket(WORKED_BUCKET), ttlMs: DAY_MS },
    bucket(LAYOUT_BUCKET),
    bucket(FLOORS_BUCKET),
  ];
  const streams = [
    ...times(settings.eventStreams, (i) => eventsPlan(i, settings)),
    ...times(settings.laneStreams, lanesPlan),
    ticketsPlan(),
    deadPlan(),
    ...times(settings.outcomeStreams, outcomesPlan),
    quarantinePlan(),
    auditPlan(),
  ].map((plan) => ({
    storage: StorageType.File,
    num_replicas: settings.replicas,
    max_bytes: bytesOf(plan.name),
    ...plan,
  }));
  return { streams, consumers: consumerPlans(settings), buckets };
}

/**
 * One message is one accepted request, so that a batch pays for one sync; refused when full, never silently dropped. The
 * stream has no age limit, because NATS would also drop requests that are not delivered yet: trim-events.ts drops by age.
 */
function eventsPlan(index: number, settings: StreamSettings): Unsized {
  return {
    name: eventStreamName(index),
    subjects: [`events.${index}.*`],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: 0,
    duplicate_window: nanos(settings.dedupWindowMs),
    // For replays: they read much, and not through the leader.
    allow_direct: true,
  };
}

/** Deliveries that wait. Read by direct get and dropped by purge: a work queue without a consumer keeps them until then. */
function lanesPlan(index: number): Unsized {
  return {
    name: laneStreamName(index),
    subjects: [`lanes.${index}.*.*`],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs_per_subject: 1_000_000,
    // A far backstop: it drops silently, so it must never be what ends a delivery.
    max_age: nanos(8 * DAY_MS),
    allow_direct: true,
  };
}

/**
 * One scheduled message per destination in trouble; a newer one takes the place of the older. The engine refuses `discard: new`
 * for a stream with schedules, and a limit would make it drop the oldest ticket without a word. So there is none: the number of
 * destinations bounds the stream, at three messages each (docs/inside/decisions/0024-a-layout-that-grows.md).
 */
function ticketsPlan(): StreamPlan {
  return {
    name: TICKETS_STREAM,
    subjects: ['tickets.at.*', 'tickets.due.*', 'tickets.urgent.*'],
    retention: RetentionPolicy.Workqueue,
    max_msgs_per_subject: 1,
    max_bytes: -1,
    allow_msg_schedules: true,
    allow_rollup_hdrs: true,
  };
}

function deadPlan(): Unsized {
  return {
    name: DEAD_STREAM,
    subjects: ['dead.*'],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(14 * DAY_MS),
    allow_direct: true,
  };
}

function outcomesPlan(index: number): Unsized {
  return {
    name: outcomesStreamName(index),
    // An earlier version starts with this plan for the first stream: no other may have a subject that it covers.
    subjects: index === 0 ? ['outcomes.*'] : [outcomesSubject(index)],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
  };
}

/** Refuses when full, so that no quarantined thing is dropped to make room; a month is time to look at it. */
function quarantinePlan(): Unsized {
  return {
    name: QUARANTINE_STREAM,
    subjects: [quarantineSubject('*')],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(30 * DAY_MS),
    duplicate_window: nanos(HOUR_MS),
    allow_direct: true,
  };
}

/** A workspace's last ends, newest last. No client can take one back: the stream refuses deletes and purges. */
function auditPlan(): Unsized {
  return {
    name: AUDIT_STREAM,
    subjects: [auditSubject('*')],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_msgs_per_subject: 20,
    deny_delete: true,
    deny_purge: true,
  };
}

/**
 * Seven seconds: a delivery's attempt may take five, and the requests of a crashed process should come back soon after. A consumer
 * that needs longer, as the recorder does while PostgreSQL is away, extends the time meanwhile.
 */
function consumerPlans(settings: StreamSettings): ConsumerPlan[] {
  const shared = { ack_policy: AckPolicy.Explicit, ack_wait: nanos(7_000), max_deliver: -1, max_ack_pending: 4_096 };
  return [
    ...times(settings.eventStreams, (i) => ({
      stream: eventStreamName(i),
      // Room for what a few processes may hold: a burst that waits to be stored in lanes must not keep other requests back.
      config: { durable_name: DELIVER_CONSUMER, ...shared, max_ack_pending: 16_384 },
    })),
    // A consumer that also covered tickets.at would take the schedules themselves, before they are due.
    { stream: TICKETS_STREAM, config: { durable_name: DRAIN_CONSUMER, filter_subject: 'tickets.due.*', ...shared } },
    {
      stream: TICKETS_STREAM,
      config: { durable_name: DRAIN_URGENT_CONSUMER, filter_subject: 'tickets.urgent.*', ...shared },
    },
    ...times(settings.outcomeStreams, (k) => ({
      stream: outcomesStreamName(k),
      config: { durable_name: RECORD_CONSUMER, ...shared },
    })),
  ];
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function indexIn(name: string, pattern: RegExp): number | undefined {
  const index = pattern.exec(name)?.[1];
  return index === undefined ? undefined : Number(index);
}

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
  retentionMs: number;
  dedupWindowMs: number;
};

export type StreamPlan = Partial<StreamConfig> & { name: string; subjects: string[]; max_bytes: number };
export type ConsumerPlan = { stream: string; config: Partial<ConsumerConfig> & { durable_name: string } };
export type BucketPlan = {
  name: string;
  maxBytes: number /** Its keys are forgotten after this time. */;
  ttlMs?: number;
};
export type Layout = { streams: StreamPlan[]; consumers: ConsumerPlan[]; buckets: BucketPlan[] };

export const eventStreamName = (index: number): string => `EVENTS-${index}`;
export const eventSubject = (index: number, sourceId: string): string => `events.${index}.${sourceId}`;
export const laneStreamName = (index: number): string => `LANES-${index}`;
export const laneSubject = (index: number, destinationId: string, tier: number | '*'): string =>
  `lanes.${index}.${destinationId}.${tier}`;
export const TICKETS_STREAM = 'TICKETS';
export const ticketAtSubject = (destinationId: string): string => `tickets.at.${destinationId}`;
export const ticketDueSubject = (destinationId: string): string => `tickets.due.${destinationId}`;
/** For lanes whose receiver works. They do not stand in line behind those whose receiver does not. */
export const ticketUrgentSubject = (destinationId: string): string => `tickets.urgent.${destinationId}`;
/** Asks the leader of TICKETS about the stream: the answer carries its time, which every role keeps to. */
export const CLOCK_SUBJECT = `$JS.API.STREAM.INFO.${TICKETS_STREAM}`;
/** Scheduled, due or urgent. */
export const anyTicketSubject = (destinationId: string): string => `tickets.*.${destinationId}`;
export const DEAD_STREAM = 'DEAD';
export const deadSubject = (destinationId: string): string => `dead.${destinationId}`;
export const OUTCOMES_STREAM = 'OUTCOMES';
export const outcomesSubject = (index: number): string => `outcomes.${index}`;
/** Stored things that a role could not work with, kept for people to look at. */
export const QUARANTINE_STREAM = 'QUARANTINE';
export const QUARANTINED_KINDS = ['request', 'lane', 'ticket', 'outcome', 'letter', 'config'] as const;
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
/** The stream behind a bucket, and the subject of one of its keys. */
export const bucketStream = (bucket: string): string => `KV_${bucket}`;
export const bucketSubject = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;
/** Told and never stored: whoever listens at that moment hears it. */
export const SEEN_SUBJECT = 'seen';
export const REFUSED_SUBJECT = 'refused';
export const PEERS_SUBJECT = 'deliver.alive';
export const tailSubject = (sourceId: string): string => `tail.${sourceId}`;
export const wantSubject = (sourceId: string): string => `tail.want.${sourceId}`;
/** Every server answers how it stores. */
export const SERVERS_SUBJECT = '$SYS.REQ.SERVER.PING.JSZ';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Shares of the servers' file store. They add up to 0.8: what is left keeps a full stream from becoming a full disk. */
const SHARE = {
  events: 0.499,
  lanes: 0.16,
  dead: 0.05,
  outcomes: 0.06,
  tickets: 0.005,
  quarantine: 0.004,
  audit: 0.001,
  buckets: 0.01,
  worked: 0.001,
};

export function layout(settings: StreamSettings, storeBytes: number): Layout {
  const share = (part: number, among = 1) => Math.floor((storeBytes * part) / among);
  const streams = [
    ...times(settings.eventStreams, (i) => eventsPlan(i, settings, share(SHARE.events, settings.eventStreams))),
    ...times(settings.laneStreams, (k) => lanesPlan(k, share(SHARE.lanes, settings.laneStreams))),
    ticketsPlan(share(SHARE.tickets)),
    deadPlan(share(SHARE.dead)),
    outcomesPlan(share(SHARE.outcomes)),
    quarantinePlan(share(SHARE.quarantine)),
    auditPlan(share(SHARE.audit)),
  ].map((plan) => ({ storage: StorageType.File, num_replicas: settings.replicas, ...plan }));
  const buckets: BucketPlan[] = [
    { name: CONFIG_BUCKET, maxBytes: share(SHARE.buckets) },
    { name: HEALTH_BUCKET, maxBytes: share(SHARE.buckets) },
    // What is missing here is learned anew, so it needs no room of its own size.
    { name: WORKED_BUCKET, maxBytes: share(SHARE.worked), ttlMs: DAY_MS },
  ];
  return { streams, consumers: consumerPlans(settings), buckets };
}

/** One message is one accepted request, so that a batch pays for one sync; refused when full, never silently dropped. */
function eventsPlan(index: number, settings: StreamSettings, maxBytes: number): StreamPlan {
  return {
    name: eventStreamName(index),
    subjects: [`events.${index}.*`],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
    max_age: nanos(settings.retentionMs),
    duplicate_window: nanos(settings.dedupWindowMs),
    // For replays: they read much, and not through the leader.
    allow_direct: true,
  };
}

/** Deliveries that wait. Read by direct get and dropped by purge: a work queue without a consumer keeps them until then. */
function lanesPlan(index: number, maxBytes: number): StreamPlan {
  return {
    name: laneStreamName(index),
    subjects: [`lanes.${index}.*.*`],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs_per_subject: 1_000_000,
    max_bytes: maxBytes,
    // A far backstop: it drops silently, so it must never be what ends a delivery.
    max_age: nanos(8 * DAY_MS),
    allow_direct: true,
  };
}

/** One scheduled message per destination in trouble; a newer one takes the place of the older. */
function ticketsPlan(maxBytes: number): StreamPlan {
  return {
    name: TICKETS_STREAM,
    subjects: ['tickets.at.*', 'tickets.due.*', 'tickets.urgent.*'],
    retention: RetentionPolicy.Workqueue,
    max_msgs_per_subject: 1,
    max_bytes: maxBytes,
    allow_msg_schedules: true,
    allow_rollup_hdrs: true,
  };
}

function deadPlan(maxBytes: number): StreamPlan {
  return {
    name: DEAD_STREAM,
    subjects: ['dead.*'],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
    max_age: nanos(14 * DAY_MS),
    allow_direct: true,
  };
}

function outcomesPlan(maxBytes: number): StreamPlan {
  return {
    name: OUTCOMES_STREAM,
    subjects: ['outcomes.*'],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
  };
}

/** Refuses when full, so that what is put aside is never dropped to make room; a month is time to look at it. */
function quarantinePlan(maxBytes: number): StreamPlan {
  return {
    name: QUARANTINE_STREAM,
    subjects: [quarantineSubject('*')],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
    max_age: nanos(30 * DAY_MS),
    duplicate_window: nanos(HOUR_MS),
    allow_direct: true,
  };
}

/** A workspace's last ends, newest last. No client can take one back: the stream refuses deletes and purges. */
function auditPlan(maxBytes: number): StreamPlan {
  return {
    name: AUDIT_STREAM,
    subjects: [auditSubject('*')],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_msgs_per_subject: 20,
    max_bytes: maxBytes,
    deny_delete: true,
    deny_purge: true,
  };
}

/**
 * Seven seconds: a delivery's attempt may take five, and a crashed process's share should come back soon after. Who needs
 * longer, as the recorder does while PostgreSQL is away, says so meanwhile.
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
    { stream: OUTCOMES_STREAM, config: { durable_name: RECORD_CONSUMER, ...shared } },
  ];
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

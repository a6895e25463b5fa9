/**
 * The NATS permissions of each role, all derived from the layout. A role has its own NATS user, with an inbox that no other role can
 * read; a process that plays several roles uses the user `millrace`, which has the permissions of all. Only control makes and
 * changes streams.
 */
import {
  answerSubject,
  ASK_SUBJECT,
  AUDIT_STREAM,
  bucketStream,
  bucketSubject,
  CLOCK_SUBJECT,
  COMPUTED_SUBJECT,
  CONFIG_BUCKET,
  DEAD_STREAM,
  DELIVER_CONSUMER,
  DRAIN_CONSUMER,
  DRAIN_URGENT_CONSUMER,
  eventStreamName,
  FLOORS_BUCKET,
  HEALTH_BUCKET,
  laneStreamName,
  LAYOUT_BUCKET,
  layout,
  outcomesStreamName,
  ALIVE_SUBJECT,
  PEERS_SUBJECT,
  QUARANTINE_STREAM,
  RECORD_CONSUMER,
  REFUSED_SUBJECT,
  SEEN_SUBJECT,
  SERVERS_SUBJECT,
  type StreamSettings,
  tailSubject,
  ticketAtSubject,
  ticketDueSubject,
  TICKETS_STREAM,
  wantSubject,
  WORKED_BUCKET,
} from './layout.ts';

export const NATS_ROLES = ['collect', 'deliver', 'control', 'compute'] as const;
export type NatsRole = (typeof NATS_ROLES)[number];
export type NatsUser = NatsRole | 'millrace';
export const NATS_USERS: readonly NatsUser[] = [...NATS_ROLES, 'millrace'];

/** Wildcards of NATS stand for whole tokens, and a stream's number is a part of one: so it depends on how many there are. */
export type StreamCounts = Pick<StreamSettings, 'eventStreams' | 'laneStreams' | 'outcomeStreams'>;
export type Permissions = { publish: string[]; subscribe: string[] };

/** The user of a process that plays these roles. */
export function userOf(roles: readonly NatsRole[]): NatsUser {
  const [role] = roles;
  return role !== undefined && roles.length === 1 ? role : 'millrace';
}

/** Answers come in on subjects below this. */
export function inboxPrefix(user: NatsUser): string {
  return `_INBOX_${user}`;
}

export function permissionsOf(user: NatsUser, counts: StreamCounts): Permissions {
  if (user !== 'millrace') return ofRole(user, counts);
  const all = NATS_ROLES.map((role) => ofRole(role, counts));
  const unique = (subjects: string[]) => [...new Set(subjects)];
  return {
    publish: unique(all.flatMap(({ publish }) => publish)),
    // The inbox without a name is for tools, and for versions that know no other.
    subscribe: unique([`${inboxPrefix(user)}.>`, '_INBOX.>', ...all.flatMap(({ subscribe }) => subscribe)]),
  };
}

/** Every role asks whether there is JetStream, whether the servers keep its promises, and what time they have. */
const EVERYBODYS = ['$JS.API.INFO', SERVERS_SUBJECT, CLOCK_SUBJECT];

function ofRole(role: NatsRole, counts: StreamCounts): Permissions {
  const { publish, subscribe } = OF_ROLE[role](streamsOf(counts));
  return { publish: [...EVERYBODYS, ...publish], subscribe: [`${inboxPrefix(role)}.>`, ...subscribe] };
}

/** The roles that read the number of event streams from the layout, and nothing else. */
const FOLLOWS_ONLY: readonly NatsRole[] = ['collect', 'compute'];

/** The streams that a role works with, and cannot start without. */
export function streamsNeeded(role: NatsRole, counts: StreamCounts): string[] {
  const prefix = info('');
  // NATS users of an earlier version have no permission for it, and the settings have the number then.
  const isSpared = (stream: string) => stream === bucketStream(LAYOUT_BUCKET) && FOLLOWS_ONLY.includes(role);
  return ofRole(role, counts)
    .publish.filter((subject) => subject.startsWith(prefix) && !subject.endsWith('*'))
    .map((subject) => subject.slice(prefix.length))
    .filter((stream) => !isSpared(stream));
}

type Streams = { events: string[]; lanes: string[]; outcomes: string[]; subjectsOf(...streams: string[]): string[] };

const STREAM_NAMES = '$JS.API.STREAM.NAMES';

const OF_ROLE: Readonly<Record<NatsRole, (streams: Streams) => Permissions>> = {
  collect: ({ events, subjectsOf }) => ({
    publish: [
      ...subjectsOf(...events),
      ...events.map(info),
      ...watch(CONFIG_BUCKET),
      ...watch(LAYOUT_BUCKET),
      SEEN_SUBJECT,
      REFUSED_SUBJECT,
      ALIVE_SUBJECT,
      tailSubject('*'),
    ],
    subscribe: [wantSubject('*')],
  }),
  deliver: ({ events, lanes, outcomes, subjectsOf }) => ({
    publish: [
      ...events.flatMap((stream) => [info(stream), purge(stream), ...pull(stream, DELIVER_CONSUMER)]),
      STREAM_NAMES,
      ...lanes.flatMap((stream) => [...read(stream), purge(stream), remove(stream)]),
      ...subjectsOf(...lanes, DEAD_STREAM, ...outcomes, QUARANTINE_STREAM),
      ticketAtSubject('*'),
      ...read(TICKETS_STREAM),
      remove(TICKETS_STREAM),
      ...pull(TICKETS_STREAM, DRAIN_CONSUMER),
      ...pull(TICKETS_STREAM, DRAIN_URGENT_CONSUMER),
      ...[DEAD_STREAM, ...outcomes, QUARANTINE_STREAM].map(info),
      ...read(bucketStream(FLOORS_BUCKET)),
      ...watch(CONFIG_BUCKET),
      ...watch(HEALTH_BUCKET),
      bucketSubject(HEALTH_BUCKET, '>'),
      ...watch(WORKED_BUCKET),
      bucketSubject(WORKED_BUCKET, '>'),
      ...watch(LAYOUT_BUCKET),
      bucketSubject(LAYOUT_BUCKET, '>'),
      PEERS_SUBJECT,
      ALIVE_SUBJECT,
      tailSubject('*'),
      answerSubject('*'),
    ],
    subscribe: [PEERS_SUBJECT, wantSubject('*'), ASK_SUBJECT],
  }),
  control: ({ events, lanes, outcomes, subjectsOf }) => ({
    publish: [
      ...LAYOUT,
      ...events.flatMap((stream) => [...read(stream), ...readAsConsumer(stream)]),
      ...[...lanes, TICKETS_STREAM, DEAD_STREAM, QUARANTINE_STREAM].flatMap((stream) => [
        ...read(stream),
        remove(stream),
      ]),
      // The operator puts quarantined things back to where they came from.
      ...subjectsOf(...events, ...lanes, DEAD_STREAM, ...outcomes, QUARANTINE_STREAM, AUDIT_STREAM),
      ...read(AUDIT_STREAM),
      ticketAtSubject('*'),
      ticketDueSubject('*'),
      ...outcomes.flatMap((stream) => pull(stream, RECORD_CONSUMER)),
      ...read(bucketStream(CONFIG_BUCKET)),
      ...watch(CONFIG_BUCKET),
      ...watch(HEALTH_BUCKET),
      bucketSubject(CONFIG_BUCKET, '>'),
      ...watch(LAYOUT_BUCKET),
      bucketSubject(LAYOUT_BUCKET, '>'),
      ...read(bucketStream(FLOORS_BUCKET)),
      bucketSubject(FLOORS_BUCKET, '>'),
      wantSubject('*'),
      ASK_SUBJECT,
      COMPUTED_SUBJECT,
      ALIVE_SUBJECT,
    ],
    subscribe: [SEEN_SUBJECT, REFUSED_SUBJECT, tailSubject('*'), answerSubject('*'), PEERS_SUBJECT, ALIVE_SUBJECT],
  }),
  compute: ({ events, subjectsOf }) => ({
    publish: [
      ...subjectsOf(...events),
      ...events.flatMap((stream) => [...read(stream), ...readAsConsumer(stream)]),
      STREAM_NAMES,
      ...watch(LAYOUT_BUCKET),
      ...read(bucketStream(FLOORS_BUCKET)),
      bucketSubject(FLOORS_BUCKET, '>'),
      COMPUTED_SUBJECT,
      ALIVE_SUBJECT,
    ],
    subscribe: [COMPUTED_SUBJECT, ALIVE_SUBJECT],
  }),
};

/** Streams and consumers are made, changed and dropped, also those that are surplus after a change of settings. */
const LAYOUT = [
  ...['CREATE', 'UPDATE', 'DELETE', 'INFO', 'PURGE'].map((call) => `$JS.API.STREAM.${call}.*`),
  '$JS.API.STREAM.LIST',
  STREAM_NAMES,
  '$JS.API.CONSUMER.CREATE.>',
  '$JS.API.CONSUMER.DURABLE.CREATE.*.*',
  '$JS.API.CONSUMER.INFO.*.*',
  '$JS.API.STREAM.LEADER.STEPDOWN.*',
  '$JS.API.CONSUMER.LEADER.STEPDOWN.*.*',
];

function info(stream: string): string {
  return `$JS.API.STREAM.INFO.${stream}`;
}

function purge(stream: string): string {
  return `$JS.API.STREAM.PURGE.${stream}`;
}

function remove(stream: string): string {
  return `$JS.API.STREAM.MSG.DELETE.${stream}`;
}

/** By the leader, by any replica, and by any replica with the subject in the question. */
function read(stream: string): string[] {
  return [
    info(stream),
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
  ];
}

/** With acknowledgements in both forms: the second is of accounts and domains that share servers. */
function pull(stream: string, consumer: string): string[] {
  return [
    `$JS.API.CONSUMER.INFO.${stream}.${consumer}`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
    `$JS.ACK.${stream}.${consumer}.>`,
    `$JS.ACK.*.*.${stream}.${consumer}.>`,
  ];
}

/** A consumer of the reader's own, which ends with it; `$JS.FC` is how it says that it keeps up. */
function readAsConsumer(stream: string): string[] {
  return [
    info(stream),
    `$JS.API.CONSUMER.CREATE.${stream}.>`,
    `$JS.API.CONSUMER.INFO.${stream}.*`,
    `$JS.API.CONSUMER.DELETE.${stream}.*`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
    `$JS.FC.${stream}.>`,
  ];
}

function watch(bucket: string): string[] {
  return readAsConsumer(bucketStream(bucket)).filter((subject) => !subject.includes('.MSG.NEXT.'));
}

function streamsOf(counts: StreamCounts): Streams {
  const { streams } = layout({ replicas: 1, retentionMs: 1, dedupWindowMs: 1, ...counts }, () => 0);
  return {
    events: Array.from({ length: counts.eventStreams }, (_, index) => eventStreamName(index)),
    lanes: Array.from({ length: counts.laneStreams }, (_, index) => laneStreamName(index)),
    outcomes: Array.from({ length: counts.outcomeStreams }, (_, index) => outcomesStreamName(index)),
    subjectsOf: (...names) => streams.filter(({ name }) => names.includes(name)).flatMap(({ subjects }) => subjects),
  };
}

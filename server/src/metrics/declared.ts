/**
 * Every metric; docs/run/metrics.md lists them, and a test holds the two together. A label never holds an id, only one of a few known
 * words.
 */
import { ACCOUNT_METRICS } from './account-metrics.ts';
import { CELL_METRICS, PROJECTION_METRICS } from './cell-metrics.ts';
import { COMPUTE_METRICS } from './compute-metrics.ts';
import type { Declared } from './declared-type.ts';
import { STORAGE_METRICS } from './storage-metrics.ts';

const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const ATTEMPT = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10];
const LAG = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export const METRICS = {
  millrace_calls_accepted_total: { kind: 'counter', help: 'Calls accepted and stored' },
  millrace_calls_refused_total: { kind: 'counter', label: 'code', help: 'Calls refused by the contract' },
  millrace_collect_requests_total: {
    kind: 'counter',
    label: 'status',
    values: ['200', '503'],
    help: 'Requests to the collection API',
  },
  millrace_requests_refused_total: {
    kind: 'counter',
    label: 'code',
    help: 'Requests to the collection API that were refused as a whole',
  },
  millrace_requests_shed_total: {
    kind: 'counter',
    label: 'why',
    values: ['engine', 'memory', 'rate_limit', 'workspace_limit'],
    help: 'Requests told to come back later',
  },
  millrace_append_seconds: { kind: 'histogram', buckets: FAST, help: 'Time until a request is stored' },
  ...CELL_METRICS,
  millrace_held_bytes: { kind: 'gauge', help: 'Bytes of bodies being stored now' },

  millrace_deliveries_total: {
    kind: 'counter',
    label: 'outcome',
    values: ['delivered', 'discarded', 'expired', 'lane_full', 'destination_deleted', 'skipped'],
    help: 'Deliveries that came to an end',
  },
  millrace_attempts_total: {
    kind: 'counter',
    label: 'outcome',
    values: ['delivered', 'retry', 'discarded', 'expired'],
    help: 'Attempts, by what they meant; each event of a batch counts',
  },
  millrace_posts_total: {
    kind: 'counter',
    label: 'answer',
    values: ['2xx', '3xx', '4xx', '5xx', 'none'],
    help: 'POSTs to receivers, by the class of the answer, or none; a batch counts once',
  },
  millrace_attempt_errors_total: {
    kind: 'counter',
    label: 'class',
    help: 'POSTs that failed, by error class or status class (http_4xx, http_5xx, …); each event of a batch counts',
  },
  millrace_attempt_seconds: {
    kind: 'histogram',
    buckets: ATTEMPT,
    help: 'Duration of an attempt, its slowest POST; each event of a batch counts',
  },
  millrace_first_delivery_seconds: {
    kind: 'histogram',
    buckets: LAG,
    help: 'From receivedAt to delivered, of what the first attempt delivered',
  },
  millrace_attempts_in_flight: { kind: 'gauge', help: 'Attempts under way that hold a slot' },
  millrace_attempts_late: {
    kind: 'gauge',
    help: 'Attempts without an answer for 300 ms, beside those that hold a slot',
  },
  millrace_attempts_max: { kind: 'gauge', help: 'Attempts that may be under way: MILLRACE_MAX_IN_FLIGHT' },
  millrace_deliveries_waiting: { kind: 'gauge', help: 'New deliveries in memory that wait for their turn' },
  millrace_open_requests: { kind: 'gauge', help: 'Requests whose deliveries are under way' },
  millrace_requests_postponed_total: {
    kind: 'counter',
    help: 'Requests given back for a second, each time: the bucket of their cell does not know their source yet',
  },
  millrace_drains: { kind: 'gauge', help: 'Lanes this process is looking at' },
  millrace_hosts_at_cap: {
    kind: 'gauge',
    help: 'Hosts of targets at which deliveries of this process wait for their turn',
  },
  millrace_lanes: { kind: 'gauge', label: 'state', help: 'Lanes open in the whole installation, by state' },
  millrace_lanes_depth: { kind: 'gauge', help: 'Deliveries in all lanes of the installation, as far as known' },
  millrace_lane_fill_ratio_max: {
    kind: 'gauge',
    help: 'The fullest lane, as a part of the share that it may fill now',
  },
  millrace_lane_failing_seconds_max: {
    kind: 'gauge',
    help: 'How long the longest failing destination has been failing',
  },
  millrace_breaker_trips_total: { kind: 'counter', help: 'Gates shut because a receiver failed again and again' },
  millrace_parked_total: {
    kind: 'counter',
    label: 'why',
    values: ['untried', 'retry'],
    help: 'Deliveries put into a lane: before their first attempt, or after one',
  },
  millrace_dead_letters_total: {
    kind: 'counter',
    label: 'reason',
    values: ['discarded', 'expired', 'lane_full'],
    help: 'Deliveries given up',
  },
  millrace_dead_letters_refused_total: {
    kind: 'counter',
    help: 'Dead letters that found no room, or were over the share of their destination or workspace',
  },
  millrace_record_refused_total: {
    kind: 'counter',
    help: 'Batches of the record that found no room and are lost to it',
  },
  millrace_outcomes_elsewhere_total: {
    kind: 'counter',
    help: 'Batches of the record that were stored in another stream than their own, which did not answer or was full',
  },
  millrace_quarantined_total: {
    kind: 'counter',
    label: 'kind',
    values: ['request', 'lane', 'ticket', 'outcome', 'letter', 'config', 'health'],
    help: 'Stored things that a role could not work with, put into quarantine',
  },

  millrace_quarantine_refused_total: {
    kind: 'counter',
    help: 'Stored things that found no room in quarantine and wait where they are',
  },
  millrace_left_for_newer_total: {
    kind: 'counter',
    label: 'kind',
    values: ['request', 'lane', 'ticket', 'outcome', 'letter', 'config', 'health'],
    help: 'Stored things of a newer format that this process left for a newer one',
  },

  millrace_control_requests_total: {
    kind: 'counter',
    label: 'status',
    values: ['200', '500', '503'],
    help: 'Requests to the control API',
  },
  ...ACCOUNT_METRICS,
  millrace_tail_viewers: { kind: 'gauge', help: 'Live tails that are open' },
  millrace_outcome_readers: { kind: 'gauge', help: 'Programs that follow outcomes over this process' },
  ...PROJECTION_METRICS,
  millrace_audit_logs_broken: { kind: 'gauge', help: 'Workspaces whose audit log was changed behind our back' },
  millrace_audit_streams_failing: {
    kind: 'gauge',
    help: 'Workspaces whose audit log cannot be sent to its URL at present',
  },
  millrace_audit_unchecked_seconds: { kind: 'gauge', help: 'How long ago all audit logs were checked as a whole' },
  millrace_outcomes_recorded_total: {
    kind: 'counter',
    help: 'Outcomes that the recorders of this process wrote to PostgreSQL, repeated ones included',
  },
  millrace_recorder_lag_seconds: { kind: 'gauge', help: 'Age of the oldest outcome that is not in PostgreSQL yet' },

  ...COMPUTE_METRICS,

  millrace_config_entries: {
    kind: 'gauge',
    label: 'kind',
    values: ['source', 'destination', 'user'],
    help: 'Config entries that this process holds, of the kinds that its roles need',
  },
  millrace_config_refused_total: {
    kind: 'counter',
    label: 'why',
    values: ['unsigned', 'forged'],
    help: 'Config entries that are not authentic and were not used',
  },
  millrace_nats_losses_total: { kind: 'counter', help: 'Connections to NATS that were lost' },
  millrace_nats_connected: { kind: 'gauge', help: '1 while NATS can be reached' },
  millrace_stream_troubles_total: {
    kind: 'counter',
    label: 'trouble',
    values: ['silent', 'no_leader', 'full'],
    help: 'Event streams that stopped taking requests',
  },
  ...STORAGE_METRICS,
  millrace_event_streams_in_trouble: { kind: 'gauge', help: 'Event streams that take no requests now' },
  millrace_clock_offset_seconds: {
    kind: 'gauge',
    help: "How far the host's clock is ahead of the engine's; negative when it is behind",
  },
  millrace_children: {
    kind: 'gauge',
    label: 'state',
    help: 'Child processes of a supervisor, by state; silent: gives no answer; waiting: to be started again',
  },
  millrace_child_ends_total: {
    kind: 'counter',
    label: 'why',
    values: ['crashed', 'replaced'],
    help: 'Child processes that ended by themselves, or because SIGHUP replaced them',
  },
  millrace_event_loop_delay_p99_seconds: { kind: 'gauge', help: 'Delay of the event loop since the last scrape' },
} as const satisfies Record<string, Declared>;

type All = typeof METRICS;
export type MetricName = keyof All;

/** The names of one kind, with or without a label. */
export type NameOf<Kind extends Declared['kind'], Labelled extends boolean> = {
  [Name in MetricName]: All[Name]['kind'] extends Kind
    ? (All[Name] extends { label: string } ? true : false) extends Labelled
      ? Name
      : never
    : never;
}[MetricName];

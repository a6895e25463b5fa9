/** Metrics of audiences and computed traits. */
import type { Declared } from './declared-type.ts';

const BATCH = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export const COMPUTE_METRICS = {
  millrace_compute_streams: { kind: 'gauge', help: 'Event streams that this process reads for audiences and traits' },
  millrace_compute_lag_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest stored event that this process has to fold and has not folded',
  },
  millrace_compute_waiting_seconds: { kind: 'gauge', help: 'How long compute has been without PostgreSQL' },
  millrace_compute_definitions: { kind: 'gauge', help: 'Audiences and computed traits that there are' },
  millrace_compute_definitions_incomplete: {
    kind: 'gauge',
    help: 'Audiences and computed traits that miss events, because these were trimmed before compute had read them',
  },
  millrace_compute_gaps_total: {
    kind: 'counter',
    help: 'Times that compute found events gone before it had read them',
  },
  millrace_compute_batch_seconds: {
    kind: 'histogram',
    buckets: BATCH,
    help: 'Time to fold a batch of events and to commit it',
  },
  millrace_compute_events_total: {
    kind: 'counter',
    label: 'fate',
    values: ['folded', 'duplicate', 'nobody', 'withheld', 'unreadable', 'newer', 'failed'],
    help: 'Events that compute read: folded into a profile, or why not',
  },
  millrace_compute_ids_evicted_total: {
    kind: 'counter',
    help: 'Message ids that a profile forgot before their 24 hours were over',
  },
  millrace_compute_transitions_total: {
    kind: 'counter',
    label: 'cause',
    values: ['event', 'time', 'backfill', 'edit', 'merge'],
    help: 'Changes of memberships and computed traits',
  },
  millrace_compute_sent_total: { kind: 'counter', help: 'Identify calls of audiences and traits that were stored' },
  millrace_compute_outbox_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest change of a membership or trait that may be sent and is not stored as a call yet',
  },
  millrace_compute_timers_overdue_seconds: {
    kind: 'gauge',
    help: 'How long the first profile that has to be evaluated by itself has been due',
  },
} as const satisfies Record<string, Declared>;

/** Rows of the record as the API answers them. */
import type { Delivery, DeliveryAttempt, Lane } from '@millrace/contract/control';
import type { AttemptRow } from '../store/attempts.ts';
import type { DeliveryRow } from '../store/deliveries.ts';
import type { CountSum } from '../store/delivery-counts.ts';
import type { LaneHealth } from '../domain/lane-health.ts';

const time = (at: Date | null) => at?.toISOString() ?? null;

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    sourceId: row.source_id,
    destinationId: row.destination_id,
    messageId: row.message_id,
    type: row.type,
    name: row.name,
    userId: row.user_id,
    anonymousId: row.anonymous_id,
    receivedAt: row.received_at.toISOString(),
    state: row.state,
    reason: row.reason,
    rule: row.rule,
    attempts: row.attempts,
    firstAttemptAt: time(row.first_attempt_at),
    lastAttemptAt: time(row.last_attempt_at),
    lastStatus: row.last_status,
    errorClass: row.error_class,
    sentence: row.sentence,
    nextAt: row.state === 'retrying' ? time(row.next_at) : null,
    replayId: row.replay_id,
    isErased: row.is_erased,
  };
}

export function toAttempt(row: AttemptRow): DeliveryAttempt {
  const { attempt, at, outcome, total_ms: totalMs, next_at: nextAt, answers } = row;
  return {
    attempt,
    at: at.toISOString(),
    outcome,
    totalMs,
    nextAt: time(nextAt),
    replayId: row.replay_id,
    answers: answers as DeliveryAttempt['answers'],
  };
}

export function toLane(lane: LaneHealth | undefined): Lane | null {
  if (lane === undefined) return null;
  const { state, since, why = null, nextAt = null, depth, deliveriesPerSecond = null, clearInMs = null } = lane;
  const moving = { deliveriesPerSecond, clearInMs };
  return { state, since, why, nextAt, depth, ...roomOf(lane), ...moving, updatedAt: lane.updatedAt };
}

function roomOf({ bytes, limitBytes }: LaneHealth): Pick<Lane, 'bytes' | 'limitBytes' | 'room'> {
  if (limitBytes === undefined) return { bytes, limitBytes: null, room: null };
  return { bytes, limitBytes, room: limitBytes === 0 ? 0 : Math.max(0, 1 - bytes / limitBytes) };
}

export type OutcomeCounts = { delivered: number; retry: number; discarded: number; expired: number; skipped: number };

const NO_COUNTS: Readonly<OutcomeCounts> = { delivered: 0, retry: 0, discarded: 0, expired: 0, skipped: 0 };

/** The sums of each step of time, in the order of the rows. */
export function seriesOf(sums: readonly CountSum[]): ({ at: string } & OutcomeCounts)[] {
  return [...Map.groupBy(sums, ({ at }) => at.toISOString())].map(([at, own]) => ({ at, ...addUp(own) }));
}

export function addUp(sums: readonly CountSum[]): OutcomeCounts {
  const counts = { ...NO_COUNTS };
  for (const { outcome, count } of sums) {
    if (outcome in counts) counts[outcome as keyof OutcomeCounts] += Number(count);
  }
  return counts;
}

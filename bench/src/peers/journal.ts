/** When each event was sent, accepted and received, by one clock; and the figures that follow from it. Pure. */
import type { ReceiverKind } from './system.ts';

export type Entry = {
  kind: ReceiverKind;
  sentAt: number;
  /** 0 for a request without an answer. */
  status: number;
  acceptedAt?: number;
  receivedAt?: number;
  arrivals: number;
};

/** Of the events for working receivers. Times are milliseconds from the acceptance to the first arrival. */
export type Flow = {
  accepted: number;
  /** Accepted, and not arrived when the wait ended. */
  missing: number;
  twice: number;
  lateOver1s: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  deliveredPerSecond: number;
  statuses: Record<string, number>;
};

const LATE_MS = 1_000;

export function flowOf(entries: readonly Entry[]): Flow {
  const healthy = entries.filter(({ kind, acceptedAt }) => kind === 'ok' && acceptedAt !== undefined);
  const arrived = healthy.filter(({ receivedAt }) => receivedAt !== undefined);
  const times = arrived
    .map(({ acceptedAt = 0, receivedAt = 0 }) => Math.max(0, receivedAt - acceptedAt))
    .toSorted((a, b) => a - b);
  const lastAt = maxOf(arrived.map(({ receivedAt = 0 }) => receivedAt));
  const firstAt = minOf(entries.map(({ sentAt }) => sentAt));
  const missing = healthy.length - arrived.length;
  return {
    accepted: healthy.length,
    missing,
    twice: arrived.filter(({ arrivals }) => arrivals > 1).length,
    lateOver1s: missing + times.filter((ms) => ms > LATE_MS).length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    maxMs: quantile(times, 1),
    deliveredPerSecond: lastAt > firstAt ? Math.round((arrived.length * 1_000) / (lastAt - firstAt)) : 0,
    statuses: countOf(entries.map(({ status }) => String(status))),
  };
}

function quantile(sorted: readonly number[], part: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return Math.round(value * 10) / 10;
}

/** Lists here are too long to be the arguments of Math.max. */
function maxOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function minOf(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function countOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** A queue that was killed and started again, as one client saw it. */
export type Outage = {
  queue: string;
  /** The answer while the queue was away; 0 without an answer in time. */
  awayStatus: number;
  awayMs: number;
  /** The answer to the same event, sent again after the return, with the same id. */
  resendStatus: number;
  /** How often that event arrived in all. */
  arrivals: number;
  /** Whether an event that was new after the return arrived: the consumers are back. */
  isBack: boolean;
};

/** Every promise that is broken, in words. An event that was refused and nevertheless arrived is at least once, and no breach. */
export function breaches({ awayStatus, resendStatus, arrivals, isBack }: Outage): string[] {
  const isAccepted = (status: number) => status >= 200 && status < 300;
  return [
    ...(isAccepted(awayStatus) && arrivals === 0 ? ['accepted without its queue, and lost'] : []),
    ...(isAccepted(awayStatus) && arrivals > 0 ? ['accepted without its queue'] : []),
    ...(!isAccepted(awayStatus) && !isAccepted(resendStatus) ? ['a resend was refused'] : []),
    ...(!isAccepted(awayStatus) && arrivals === 0 ? ['a resend did not arrive'] : []),
    ...(isBack ? [] : ['consumers did not return']),
  ];
}

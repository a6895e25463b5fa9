import type { UntrustedObject } from './call.ts';
import { formatTimestamp, isFormatted, parseTimestamp, withinYears } from './timestamps.ts';

export interface EventTimes {
  originalTimestamp: string | number | undefined;
  sentAt: string | undefined;
  timestamp: string;
}

/** When the call happened by our clock: the offset of the sender's clock while sending is subtracted. */
export function readTimes(call: UntrustedObject, batchSentAt: unknown, receivedAt: string): EventTimes {
  const happenedMs = parseTimestamp(call.timestamp ?? call.originalTimestamp);
  const sentAt = call.sentAt ?? batchSentAt;
  const sentMs = parseTimestamp(sentAt);
  return {
    originalTimestamp: asSent(call.originalTimestamp ?? call.timestamp),
    sentAt: sentMs === undefined ? undefined : isFormatted(sentAt) ? sentAt : formatTimestamp(sentMs),
    timestamp: happenedMs === undefined ? receivedAt : formatTimestamp(correct(happenedMs, sentMs, receivedAt)),
  };
}

/** A correction that leaves the years we can write comes from a clock too wrong to trust: the given time stands. */
function correct(happenedMs: number, sentMs: number | undefined, receivedAt: string): number {
  const receivedMs = parseTimestamp(receivedAt);
  if (sentMs === undefined || receivedMs === undefined) return happenedMs;
  return withinYears(receivedMs - (sentMs - happenedMs)) ?? happenedMs;
}

function asSent(value: unknown): string | number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

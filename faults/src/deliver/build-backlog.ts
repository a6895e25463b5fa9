import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../../server/src/stream/connect-nats.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import { SILENT, streamSettings } from '../sources.ts';
import { countUnsettled } from './ask-engine.ts';
import { markedCall } from './marked-call.ts';
import type { PlannedSource } from './plan-workspaces.ts';
import type { Arrival } from './read-arrival.ts';

/** Counts what arrived of a backlog, in a byte for each event: a million records would be a burden themselves. */
export type BacklogCount = {
  /** False for what belongs to the backlog. */
  isOther(arrival: Arrival): boolean;
  delivered(): number;
  repeated(): number;
  problems(): number;
  /** When the first and the last of them were delivered. */
  firstAt(): number;
  lastAt(): number;
  /** The most in any second. */
  mostPerSecond(): number;
};

const PREFIX = 'backlog-';
const EVENTS_PER_REQUEST = 2_500;
/** More, and everybody's events would wait behind them: a stream is read in order. */
const MOST_UNSETTLED = 4;
const LOOK_MS = 5;

export function countBacklog(size: number): BacklogCount {
  const seen = new Uint8Array(size);
  const perSecond = new Map<number, number>();
  const counts = { delivered: 0, repeated: 0, problems: 0, firstAt: Infinity, lastAt: 0 };
  function note({ messageId, at, problem }: Arrival): void {
    const index = Number(messageId.slice(PREFIX.length));
    if (seen[index] === 0) counts.delivered += 1;
    else counts.repeated += 1;
    seen[index] = 1;
    if (problem !== undefined) counts.problems += 1;
    counts.firstAt = Math.min(counts.firstAt, at);
    counts.lastAt = Math.max(counts.lastAt, at);
    const second = Math.floor(at / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return {
    isOther(arrival) {
      if (!arrival.messageId.startsWith(PREFIX)) return true;
      if (arrival.status === 200) note(arrival);
      return false;
    },
    delivered: () => counts.delivered,
    repeated: () => counts.repeated,
    problems: () => counts.problems,
    firstAt: () => counts.firstAt,
    lastAt: () => counts.lastAt,
    mostPerSecond: () => Math.max(...perSecond.values()),
  };
}

export type BacklogNeeds = { natsUrl: string; source: PlannedSource; size: number; connection: Connection };

/** Appends events as fast as deliver takes them, past collect. */
export async function buildBacklog({ natsUrl, source, size, connection }: BacklogNeeds): Promise<void> {
  const settings = streamSettings({ replicas: 1, eventStreams: 2 });
  await using stream = await openStream({ natsUrl, settings, log: SILENT });
  for (let start = 0; start < size; start += EVENTS_PER_REQUEST) {
    const length = Math.min(EVENTS_PER_REQUEST, size - start);
    const batch = Array.from({ length }, (_, index) => markedCall(source, `${PREFIX}${start + index}`));
    const id = randomUUID();
    const envelope = JSON.stringify({ shape: 'batch', receivedAt: new Date().toISOString(), requestId: id });
    const body = Buffer.from(JSON.stringify({ batch }));
    const stored = await stream.append({ sourceId: source.id, id, home: start / EVENTS_PER_REQUEST, envelope, body });
    if (!stored.ok) throw new Error(stored.why);
    while ((await countUnsettled(connection)) > MOST_UNSETTLED) await sleep(LOOK_MS);
  }
}

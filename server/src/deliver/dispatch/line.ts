import type { Attempt } from '../attempt/attempt.ts';
import type { Delivery } from '../../domain/delivery.ts';
import { concurrencyOf, type Gate } from './gate.ts';
import type { Webhook } from '../attempt/webhook.ts';

/** A delivery that wants to be attempted. `finish` is called once; undefined means that no attempt was made. */
export type Job = {
  delivery: Delivery;
  webhook: Webhook;
  /** One of many that have waited: it gives way to what is fresh. */
  isLong?: boolean;
  /** Whether it must not be started any more, because its lane has another holder now; then it is handed back. */
  isWithdrawn?(): boolean;
  finish(attempt: Attempt | undefined): void;
};

/** Those who wait in memory for one destination. */
export type Line = {
  gate: Gate;
  fresh: { job: Job; since: number }[];
  /** From the lane; only its holder puts them here, and only a few at a time. */
  backlog: Job[];
  picks: number;
  isReady: boolean;
  /** In the line of those whose backlog found no room in the window. */
  isOutside: boolean;
};

/** How long a new delivery waits in memory for its destination. Longer, and the request it came with would wait too. */
const PATIENCE_MS = 1_000;
/** Every so many picks one comes from the lane: without it a steady flow of new events would starve what waits. */
const BACKLOG_TURN = 4;

export function newLine(gate: Gate): Line {
  return { gate, fresh: [], backlog: [], picks: 0, isReady: false, isOutside: false };
}

export function waitingIn({ fresh, backlog }: Line): number {
  return fresh.length + backlog.length;
}

/** The next one that may start: new ones first, those of the lane now and then. */
export function pick(line: Line, canStart: (job: Job, isBacklog: boolean) => boolean): Job | undefined {
  const fresh = line.fresh[0]?.job;
  const [waiting] = line.backlog;
  const isTurnOfBacklog = fresh === undefined || line.picks % BACKLOG_TURN === BACKLOG_TURN - 1;
  const job = isTurnOfBacklog ? (waiting ?? fresh) : fresh;
  if (job === undefined || !canStart(job, job === waiting)) return undefined;
  line.picks += 1;
  if (job === waiting) line.backlog.shift();
  else line.fresh.shift();
  return job;
}

/** Whether a new delivery would wait longer than it may: then it had better go to the lane at once. */
export function isTooLong({ gate, fresh }: Line, webhook: Webhook, peers: number): boolean {
  const abreast = concurrencyOf(gate, webhook, peers);
  if (abreast === 0) return true;
  const perSecond = webhook.maxPerSecond === undefined ? Infinity : webhook.maxPerSecond / peers;
  const waitMs = Math.max((fresh.length * gate.averageMs) / abreast, (fresh.length * 1_000) / perSecond);
  return waitMs > PATIENCE_MS;
}

export function handBackLate(line: Line, uptimeMs: number): void {
  for (let [first] = line.fresh; first !== undefined && uptimeMs - first.since > PATIENCE_MS; [first] = line.fresh) {
    line.fresh.shift();
    first.job.finish(undefined);
  }
}

/** A line's backlog is of one holder after the other, so those of a former one come first. */
export function handBackWithdrawn({ backlog }: Line): void {
  for (let [first] = backlog; first?.isWithdrawn?.() === true; [first] = backlog) {
    backlog.shift();
    first.finish(undefined);
  }
}

export function handBackFresh(line: Line): void {
  for (const { job } of line.fresh.splice(0)) job.finish(undefined);
}

export function handBackAll(line: Line): void {
  handBackFresh(line);
  for (const job of line.backlog.splice(0)) job.finish(undefined);
}

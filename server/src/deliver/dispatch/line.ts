import type { Attempt } from '../attempt/attempt.ts';
import { type Batched, postsFor } from '../attempt/make-posts.ts';
import { concurrencyOf, type Gate } from './gate.ts';
import type { Webhook } from '../attempt/webhook.ts';

/** A request for one attempt. The dispatcher calls `finish` once; with undefined when it made no attempt. */
export type PendingAttempt = Batched & {
  webhook: Webhook;
  /** Part of a long backlog: it yields to new events. */
  isLong?: boolean;
  /** True when the lane has another holder now: this one must not start any more, and is handed back. */
  isWithdrawn?(): boolean;
  finish(attempt: Attempt | undefined): void;
};

/** The deliveries that wait in memory for one destination. */
export type Line = {
  gate: Gate;
  fresh: { pending: PendingAttempt; since: number }[];
  /** From the lane; only its holder puts them here, and only a few at a time. */
  backlog: PendingAttempt[];
  picks: number;
  isReady: boolean;
  /** Its backlog found no room in the window, and waits for its turn. */
  isOutside: boolean;
  /** A probe that waits for its turn at a host. */
  probes: PendingAttempt[];
  /** Since when it waits for its turn at a host. */
  waitsSince: number | undefined;
};

/** How long a new delivery waits in memory for its destination. Longer, and the request it came with would wait too. */
const PATIENCE_MS = 1_000;
/** Every nth pick is from the lane: else a steady flow of new events would starve the backlog. */
const BACKLOG_TURN = 4;
/** How long deliveries of a lane wait in memory for their turn at a host. Longer, and the lane's holder would do nothing else. */
const HOST_PATIENCE_MS = 5_000;

export function newLine(gate: Gate): Line {
  const waiting = { fresh: [], backlog: [], probes: [], waitsSince: undefined };
  return { gate, ...waiting, picks: 0, isReady: false, isOutside: false };
}

export function waitingIn({ fresh, backlog, probes }: Line): number {
  return fresh.length + backlog.length + probes.length;
}

type CanStart = (line: Line, pending: PendingAttempt, isBacklog: boolean) => boolean;

export type Picked = { pending: PendingAttempt; isBacklog: boolean };

/** The next one that may start: new ones first, those of the lane now and then. */
export function pick(line: Line, canStart: CanStart): Picked | undefined {
  const fresh = line.fresh[0]?.pending;
  const [waiting] = line.backlog;
  const isTurnOfBacklog = fresh === undefined || line.picks % BACKLOG_TURN === BACKLOG_TURN - 1;
  const pending = isTurnOfBacklog ? (waiting ?? fresh) : fresh;
  const isBacklog = pending === waiting;
  if (pending === undefined || !canStart(line, pending, isBacklog)) return undefined;
  line.picks += 1;
  if (isBacklog) line.backlog.shift();
  else line.fresh.shift();
  return { pending, isBacklog };
}

/** Whether a new delivery would wait longer than it may: then it goes to the lane at once. */
export function isTooLong({ gate, fresh }: Line, webhook: Webhook, peers: number): boolean {
  const abreast = concurrencyOf(gate, webhook, peers);
  if (abreast === 0) return true;
  const perSecond = webhook.maxPerSecond === undefined ? Infinity : webhook.maxPerSecond / peers;
  const posts = postsFor(fresh.length, webhook);
  const waitMs = Math.max((posts * gate.averageMs) / abreast, (posts * 1_000) / perSecond);
  return waitMs > PATIENCE_MS;
}

export function handBackLate(line: Line, uptimeMs: number): void {
  for (let [first] = line.fresh; first !== undefined && uptimeMs - first.since > PATIENCE_MS; [first] = line.fresh) {
    line.fresh.shift();
    first.pending.finish(undefined);
  }
}

/** Its host is so busy that the lane is better looked at again when its turn is near. */
export function handBackImpatient(line: Line, uptimeMs: number): void {
  if (line.waitsSince === undefined || uptimeMs - line.waitsSince <= HOST_PATIENCE_MS) return;
  handBackEverything(line);
}

/** With a probe, which waits while the gate is shut. */
export function handBackEverything(line: Line): void {
  handBackAll(line);
  for (const pending of line.probes.splice(0)) pending.finish(undefined);
}

/** A line's backlog is of one holder after the other, so those of a former holder come first. */
export function handBackWithdrawn({ backlog, probes }: Line): void {
  for (const pending of [backlog, probes]) {
    for (let [first] = pending; first?.isWithdrawn?.() === true; [first] = pending) {
      pending.shift();
      first.finish(undefined);
    }
  }
}

export function handBackFresh(line: Line): void {
  for (const { pending } of line.fresh.splice(0)) pending.finish(undefined);
}

export function handBackAll(line: Line): void {
  handBackFresh(line);
  for (const pending of line.backlog.splice(0)) pending.finish(undefined);
}

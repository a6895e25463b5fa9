import { newTokenBucket, refill, type TokenBucket } from '../../domain/token-bucket.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { ErrorClass } from '../client/error-classes.ts';
import type { Standing } from '../client/pace.ts';
import { meaningOf, type TargetAnswer } from '../attempt/judge.ts';
import type { Webhook } from '../attempt/webhook.ts';

/**
 * The circuit breaker and concurrency limit of one destination in this process, learned from its answers; limits that its owner
 * set hold besides. A gate is open, or shut: `failing` (failures in a row shut it, the answer to a probe opens it) or
 * `asked_to_wait` (a `Retry-After` shut it, and its time opens it). A `Retry-After` while it is failing only delays the next
 * probe. An open one may be doubted: an attempt is late, and the next answer decides. `learn` and `askedToWait` move it by this
 * process's answers, the dispatcher's `shut` and `reopen` by those of other processes.
 * Plain data; the clocks are arguments: `now` is that of NATS, `uptimeMs` the monotonic one of this process.
 */
export type Gate = {
  readonly destinationId: string;
  inFlight: number;
  /** How many attempts it may have under way; a fraction, because it grows by parts. */
  limit: number;
  /** Whether it took an attempt of this process, or lately one of another process. */
  hasWorked: boolean;
  /** When it last took one of this process, on the clock of `fair-clock.ts`; -Infinity before that. */
  answeredAt: number;
  /** An attempt is late, and nothing was answered for as long: the receiver may be hanging. */
  isDoubted: boolean;
  /** Failures in a row, weighted. */
  failures: number;
  averageMs: number;
  shut: Shut | undefined;
  /** For the rate limit that the owner set; on the monotonic clock, as is `usedAt`. */
  budget: TokenBucket;
  usedAt: number;
  /** The size of a batch that it refused as too large, and when. */
  refusedBytes?: { bytes: number; at: number };
  /** The most events in a batch, after one that it could not handle in time. */
  mostEvents?: number;
  /** Requests that it refused for good since it last took one; counted where it gets batches. */
  refusedInRow?: number;
};

export type Shut = {
  why: 'failing' | 'asked_to_wait';
  sentence: string;
  since: number;
  /** When it opens by itself: only while the receiver asked to wait. */
  until?: number;
  /** Failing, and the receiver asked for quiet until then: no probe before. */
  quietUntil?: number;
};

const FIRST_LIMIT = 8;
const AFTER_TROUBLE_LIMIT = 2;
/** The most attempts that one receiver has under way in a process, however fast it is. */
export const MAX_LIMIT = 128;
/** A hanging receiver costs a slot for five seconds, a flooding one CPU, a refusing one almost nothing. */
const COSTLY: ReadonlySet<ErrorClass> = new Set<ErrorClass>(['timeout', 'answer_too_large']);
const COSTLY_WEIGHT = 3;
const MAX_FAILURES = 10;
const DOUBTFUL_FAILURES = 3;
/** Slower than this times the usual is a receiver under strain: no more is put on it. */
const STRAIN = 2;
const STRAIN_FLOOR_MS = 50;
const SMOOTHING = 0.1;
/** An attempt that takes longer than this is late, however slow its receiver usually is. */
export const LATE_MS = 300;
/** Later than this times the usual is a sign that the receiver hangs. */
const HANGING = 3;
/** An answer of the last second shows that the receiver does not hang now. */
const LATELY_MS = 1_000;

export function newGate(destinationId: string, uptimeMs: number, hasWorked = false): Gate {
  const learned = { limit: FIRST_LIMIT, hasWorked, answeredAt: -Infinity, isDoubted: false, failures: 0, averageMs: 0 };
  const budget = newTokenBucket(1, uptimeMs);
  return { destinationId, inFlight: 0, ...learned, shut: undefined, budget, usedAt: uptimeMs };
}

/**
 * Each standing has its own slots and its own line for new connections, so that failing receivers take none from healthy or
 * unknown ones.
 */
export function standingOf(gate: Gate, now: number): Standing {
  const { hasWorked, failures } = gate;
  const hasFailed = failures >= DOUBTFUL_FAILURES || (failures > 0 && !hasWorked);
  if (hasFailed || gate.isDoubted || isShut(gate, now)) return 'failing';
  return hasWorked ? 'works' : 'unknown';
}

/** How many may be under way. Zero when the limit is too small to be divided: then only the holder of the lane attempts. */
export function concurrencyOf(gate: Gate, { maxConcurrency }: Webhook, peers: number): number {
  const share = maxConcurrency === undefined ? MAX_LIMIT : Math.floor(maxConcurrency / peers);
  return Math.min(Math.max(1, Math.floor(gate.limit)), share);
}

/**
 * How many may be under way while slots are scarce. A receiver that did not answer lately gets one, until it answers: a thousand
 * that begin to hang then hold a thousand slots and not eight thousand. A slow one gets fewer, as each holds its slot for longer.
 */
export function scarceConcurrency(gate: Gate, fairMs: number): number {
  if (fairMs - gate.answeredAt >= LATELY_MS) return 1;
  return Math.max(1, Math.floor((MAX_LIMIT * LATE_MS) / Math.max(LATE_MS, gate.averageMs)));
}

/** Notes that an attempt that began at `since` has not been answered by `fairMs`. */
export function noteLate(gate: Gate, since: number, fairMs: number): void {
  const silentMs = fairMs - Math.max(since, gate.answeredAt);
  if (silentMs >= Math.max(LATE_MS, gate.averageMs * HANGING)) gate.isDoubted = true;
}

/** Takes a token of the destination's rate limit, if there is one. */
export function takeToken(gate: Gate, perSecond: number | undefined, uptimeMs: number): boolean {
  if (perSecond === undefined) return true;
  // A tenth of a second's worth may be saved up: enough for the timers' grain, too little for a burst.
  if (refill(gate.budget, uptimeMs, perSecond, Math.max(1, perSecond / 10)) < 1) return false;
  gate.budget.tokens -= 1;
  return true;
}

/** `now` is by the engine's clock, `fairMs` by that of `fair-clock.ts`. */
export type Times = { now: number; fairMs: number };

export type Learned = 'opened' | 'shut' | undefined;

/** Notes what an attempt showed about the receiver. */
export function learn(gate: Gate, { answers }: Attempt, { now, fairMs }: Times): Learned {
  const sent = answers.filter(({ answer }) => wasSent(answer));
  gate.isDoubted = false;
  if (sent.length === 0) return undefined;
  let slowestMs = 0;
  let isAlive = false;
  for (const { answer } of sent) {
    slowestMs = Math.max(slowestMs, answer.timings.totalMs);
    if (meaningOf(answer) !== 'retry') isAlive = true;
  }
  return isAlive ? learnGood(gate, slowestMs, fairMs) : learnBad(gate, sent, now);
}

/** False when the client had no room: that says nothing about the receiver, and is no attempt. */
export function wasSent(answer: TargetAnswer['answer']): boolean {
  return answer.kind === 'status' || (answer.errorClass !== 'not_sent' && answer.errorClass !== 'stopped');
}

function learnGood(gate: Gate, ms: number, fairMs: number): Learned {
  const isStrained = gate.averageMs > 0 && ms > gate.averageMs * STRAIN && ms > STRAIN_FLOOR_MS;
  gate.averageMs = gate.averageMs === 0 ? ms : gate.averageMs + (ms - gate.averageMs) * SMOOTHING;
  gate.failures = 0;
  gate.hasWorked = true;
  gate.answeredAt = fairMs;
  // Slow start, then additive increase: by one for every round, as TCP does.
  if (!isStrained) gate.limit = Math.min(MAX_LIMIT, gate.limit + (gate.limit < FIRST_LIMIT * 2 ? 1 : 1 / gate.limit));
  if (gate.shut?.why !== 'failing') return undefined;
  gate.shut = undefined;
  gate.limit = AFTER_TROUBLE_LIMIT;
  return 'opened';
}

function learnBad(gate: Gate, sent: readonly TargetAnswer[], now: number): Learned {
  const isCostly = sent.some(({ answer }) => answer.kind === 'error' && COSTLY.has(answer.errorClass));
  gate.failures += isCostly ? COSTLY_WEIGHT : 1;
  gate.limit = Math.max(1, gate.limit / 2);
  const sentence = sentenceOf(sent);
  if (gate.failures < MAX_FAILURES || gate.shut?.why === 'failing') {
    if (gate.shut?.why === 'failing') gate.shut.sentence = sentence;
    return undefined;
  }
  const asked = gate.shut?.until;
  gate.shut = { why: 'failing', sentence, since: now, ...(asked === undefined ? {} : { quietUntil: asked }) };
  return 'shut';
}

/** The gate after a `Retry-After`. A circuit breaker that is open stays open, and the later of two times holds. */
export function askedToWait(gate: Gate, asked: number, now: number): Shut {
  const until = Math.max(asked, quietUntil(gate, now) ?? 0);
  if (isShut(gate, now) && gate.shut?.why === 'failing') return { ...gate.shut, quietUntil: until };
  return { why: 'asked_to_wait', sentence: 'the receiver asked us to wait', since: now, until };
}

/** Until when the receiver asked for quiet; undefined when it did not, or the time is over. */
export function quietUntil({ shut }: Gate, now: number): number | undefined {
  const until = shut?.until ?? shut?.quietUntil;
  return until !== undefined && until > now ? until : undefined;
}

/** The receiver's last answer, for people. */
export function sentenceOf(answers: readonly TargetAnswer[]): string {
  const last = answers.at(-1)?.answer;
  if (last === undefined) return 'there was no answer';
  return last.kind === 'status' ? `the receiver answered ${last.status}` : last.message;
}

/** Whether the receiver works, as far as this process knows: one that fails now and then does. */
export function isWorking(gate: Gate, now: number): boolean {
  return standingOf(gate, now) === 'works';
}

/** Whether this process has nothing to judge the receiver by. */
export function isUnknown({ hasWorked, failures, shut }: Gate): boolean {
  return !hasWorked && failures === 0 && shut === undefined;
}

/** Another process found that the receiver works again, or that the time it asked for is over: only the first ends a row of failures. */
export function reopen(gate: Gate | undefined): void {
  if (gate?.shut === undefined) return;
  if (gate.shut.why === 'failing') gate.failures = 0;
  gate.shut = undefined;
}

export function isShut(gate: Gate, now: number): boolean {
  if (gate.shut?.until !== undefined && gate.shut.until <= now) gate.shut = undefined;
  return gate.shut !== undefined;
}

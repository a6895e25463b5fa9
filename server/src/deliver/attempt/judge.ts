import type { Answer } from '../client/post.ts';
import { type Delivery, giveUpAt } from '../../domain/delivery.ts';
import { JITTER, type RetrySchedule } from './retry-schedule.ts';

export type TargetAnswer = { url: string; answer: Answer };

export type Outcome =
  | { kind: 'delivered' }
  | {
      kind: 'retry';
      tier: number;
      dueAt: number;
      /** The receiver asked for quiet until then: it may be before `dueAt`. */
      holdUntil?: number;
    }
  | { kind: 'discarded' }
  | { kind: 'expired' };

export type Judgement = { outcome: Outcome; settled: NonNullable<Delivery['settled']> };

/** Whether these answers alone say that it is delivered: with nothing settled before, and no other target to wait for. */
export function isDelivered({ settled }: Delivery, answers: readonly TargetAnswer[]): boolean {
  return settled === undefined && answers.every(({ answer }) => meaningOf(answer) === 'delivered');
}

export type Case = {
  /** As it was with this attempt already counted. */
  delivery: Delivery;
  answers: readonly TargetAnswer[];
  /** How many events each POST had; without it, one. */
  events?: number | undefined;
  policy: 'any' | 'all';
  schedule: RetrySchedule;
  resumedAt?: number;
  now: number;
  /** From 0 up to 1. */
  dice: number;
};

/** Decides what the answers of one attempt mean; no other place does. */
export function judge(given: Case): Judgement {
  const { delivery, answers, policy } = given;
  const settled = { ...delivery.settled };
  let isAnyLeft = false;
  let isDivided = false;
  for (const { url, answer } of answers) {
    const meaning = meaningOf(answer);
    if (meaning === 'retry') isAnyLeft = true;
    else if (isOfOthers(answer, given)) isDivided = true;
    else settled[url] = meaning;
  }
  const verdicts = Object.values(settled);
  const isAllDone = !isAnyLeft && !isDivided && !verdicts.includes('failed');
  const isDone = policy === 'any' ? verdicts.includes('delivered') : isAllDone;
  if (isDone) return { outcome: { kind: 'delivered' }, settled };
  if (isAnyLeft) return { outcome: again(given), settled };
  return { outcome: isDivided ? atOnce(given) : { kind: 'discarded' }, settled };
}

/**
 * A receiver that refuses a batch may mean one event of it. Only one that was alone is refused for good; the others are tried
 * again in smaller batches.
 */
function isOfOthers(answer: Answer, { events = 1 }: Case): boolean {
  return events > 1 && answer.kind === 'status' && answer.status >= 400 && meaningOf(answer) === 'failed';
}

/** As old as it was: the lane tries it before what came later. */
function atOnce({ delivery, now }: Case): Outcome {
  return { kind: 'retry', tier: 1, dueAt: Math.min(delivery.dueAt, now) };
}

/** A receiver that refused a request will refuse it again; 408 and 429 only mean "not now". */
export function meaningOf(answer: Answer): 'delivered' | 'retry' | 'failed' {
  if (answer.kind === 'error') {
    return answer.errorClass === 'address_forbidden' || answer.errorClass === 'url_invalid' ? 'failed' : 'retry';
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return 'delivered';
  return status >= 500 || status === 408 || status === 429 ? 'retry' : 'failed';
}

function again({ delivery, answers, schedule, resumedAt, now, dice }: Case): Outcome {
  const endsAt = giveUpAt(delivery, schedule.windowMs, resumedAt);
  const tier = schedule.tierAfter(delivery.attempts, endsAt - now);
  if (tier === undefined) return { kind: 'expired' };
  const dueAt = Math.round(now + schedule.delayMs(tier) * (1 + JITTER * dice));
  const asked = Math.max(0, ...answers.map(({ answer }) => askedUntil(answer, now)));
  if (asked <= now) return { kind: 'retry', tier, dueAt };
  // The schedule waits longer anyway: that is no reason to disturb the receiver with other deliveries meanwhile.
  if (asked <= dueAt) return { kind: 'retry', tier, dueAt, holdUntil: asked };
  // Never past the window: rather a last attempt too early than none.
  const holdUntil = Math.max(dueAt, Math.min(asked, endsAt - schedule.delayMs(1)));
  return { kind: 'retry', tier, dueAt: holdUntil, holdUntil };
}

/** `Date.parse` reads a date into almost anything that has a number in it, so it is asked only about what looks like one. */
const LOOKS_LIKE_DATE = /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/;

/** `Retry-After` is seconds or a date; anything else is ignored, and so is that of a target that refused for good. */
function askedUntil(answer: Answer, now: number): number {
  if (answer.kind === 'error' || answer.retryAfter === undefined || meaningOf(answer) !== 'retry') return 0;
  const text = answer.retryAfter.trim();
  if (/^\d+$/.test(text)) return now + Number(text) * 1_000;
  const at = LOOKS_LIKE_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : at;
}

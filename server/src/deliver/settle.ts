import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import type { DeadLetters } from '../stream/dead-letters.ts';
import type { Attempt } from './attempt.ts';
import { type AnswerNote, type Delivery, withAttempt } from './delivery.ts';
import { wasSent } from './gate.ts';
import { judge, type TargetAnswer } from './judge.ts';
import type { Parker } from './park.ts';
import { type RetrySchedule, UNTRIED_TIER } from './retry-schedule.ts';
import type { Webhook } from './webhook.ts';

export type DeadReason = 'discarded' | 'expired' | 'lane_full';

/** What became of a delivery for now: at its end, or safe in its lane. */
export type Settled = 'delivered' | 'retry' | 'untried' | DeadReason;

export type Settlement = {
  /** Everything that follows from an attempt. The delivery is done with then, or durably somewhere else. */
  settle(delivery: Delivery, webhook: Webhook, attempt: Attempt | undefined): Settled | Promise<Settled>;
  /** Ends a delivery that is given up. */
  bury(delivery: Delivery, webhook: Webhook, reason: DeadReason): Promise<Settled>;
};

export type SettlementNeeds = {
  parker: Parker;
  deadLetters: DeadLetters;
  schedule: RetrySchedule;
  /** The receiver asked for quiet. */
  hold(webhook: Webhook, until: number): void;
  now(): number;
  random(): number;
  log: Logger;
};

const PAUSE_MS = 500;

export function openSettlement(needs: SettlementNeeds): Settlement {
  return {
    settle(delivery, webhook, made) {
      const wasAttempted = made?.answers.some(({ answer }) => wasSent(answer)) === true;
      if (wasAttempted) return settleAttempt(needs, delivery, { webhook, made });
      return park(needs, delivery, { webhook, tier: UNTRIED_TIER });
    },
    bury: (delivery, webhook, reason) => bury(needs, delivery, { webhook, reason }),
  };
}

function settleAttempt(
  needs: SettlementNeeds,
  delivery: Delivery,
  { webhook, made }: { webhook: Webhook; made: Attempt },
): Settled | Promise<Settled> {
  const { schedule } = needs;
  const { answers } = made;
  const attempted = withAttempt(delivery, { at: made.startedAt, answers: answers.map(noteOf) });
  const times = { schedule, resumedAt: webhook.resumedAt, now: needs.now(), dice: needs.random() };
  const { outcome, settled } = judge({ delivery: attempted, answers, policy: webhook.policy, ...times });
  switch (outcome.kind) {
    case 'delivered':
      return 'delivered';
    case 'discarded':
    case 'expired':
      return bury(needs, { ...attempted, settled }, { webhook, reason: outcome.kind });
    case 'retry': {
      const { tier, dueAt, holdUntil } = outcome;
      if (holdUntil === undefined) return park(needs, { ...attempted, settled, dueAt }, { webhook, tier });
      // The lane is held as a whole. With a time of its own, this one would hold up those behind it for as long.
      needs.hold(webhook, holdUntil);
      return park(needs, { ...attempted, settled, dueAt: needs.now() }, { webhook, tier });
    }
  }
}

async function park(
  needs: SettlementNeeds,
  delivery: Delivery,
  { webhook, tier }: { webhook: Webhook; tier: number },
): Promise<Settled> {
  const parked = await needs.parker.park(webhook.destinationId, tier, delivery);
  if (parked === 'full') return bury(needs, delivery, { webhook, reason: 'lane_full' });
  return delivery.attempts === 0 ? 'untried' : 'retry';
}

/** Waits for the engine as parking does. A letter that does not fit is named in the log: it must not stop the others. */
async function bury(
  { deadLetters, now, log }: SettlementNeeds,
  delivery: Delivery,
  { webhook, reason }: { webhook: Webhook; reason: DeadReason },
): Promise<Settled> {
  const { destinationId } = webhook;
  const letter = JSON.stringify({ reason, at: now(), destinationId, delivery });
  const facts = { deliveryId: delivery.id, destinationId, reason, attempts: delivery.attempts };
  for (;;) {
    const answer = await deadLetters.append(destinationId, `${delivery.id}.${delivery.attempts}.${reason}`, letter);
    if (answer === 'stored') log.info(facts, 'delivery.given_up');
    if (answer === 'full') log.error(facts, 'dead_letter.refused');
    if (answer !== 'unavailable') return reason;
    await sleep(PAUSE_MS);
  }
}

function noteOf({ url, answer }: TargetAnswer): AnswerNote {
  const ms = Math.round(answer.timings.totalMs);
  return answer.kind === 'status' ? { url, status: answer.status, ms } : { url, error: answer.errorClass, ms };
}

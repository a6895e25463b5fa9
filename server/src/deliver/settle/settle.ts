import { ruleText } from '@millrace/contract';
import type { Routed } from '../../domain/route-event.ts';
import type { Logger } from '../../log.ts';
import type { OutcomeEntry, OutcomeFact } from '../../domain/outcome.ts';
import type { DeadLetters } from '../../stream/deliveries/dead-letters.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { DeadLetter, DeadReason } from '../../domain/dead-letter.ts';
import { type AnswerNote, type Delivery, UNTRIED_TIER, withAttempt } from '../../domain/delivery.ts';
import { wasSent } from '../dispatch/gate.ts';
import { isDelivered, judge, type Outcome, type TargetAnswer } from '../attempt/judge.ts';
import { attemptEntry, entryBase, namelessBase } from './outcome-entry.ts';
import type { Parker } from './park.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import type { Webhook } from '../attempt/webhook.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

/** What became of a delivery for now: at its end, or safe in its lane. */
export type Skipped = Pick<Extract<Routed, { kind: 'skip' }>, 'reason' | 'rule'>;
export type Settled = 'erased' | 'skipped' | 'destination_deleted' | 'delivered' | 'retry' | 'untried' | DeadReason;

export type Settlement = {
  /** Everything that follows from an attempt. The delivery is done with then, or durably somewhere else. */
  settle(delivery: Delivery, webhook: Webhook, attempt: Attempt | undefined): Promise<Settled>;
  /** Ends a delivery whose time was over before it was attempted again. */
  expire(delivery: Delivery, webhook: Webhook): Promise<Settled>;
  /** Ends a delivery whose destination was deleted. No dead letter: there is nothing left that it could be sent to. */
  abandon(delivery: Delivery, webhook: Webhook): Promise<Settled>;
  /** Ends a delivery that the destination turns out not to get, by the rules of a process that understands them. */
  skip(delivery: Delivery, webhook: Webhook, skipped: Skipped): Promise<Settled>;
  /** Ends a delivery whose user was erased while it waited. */
  erase(delivery: Delivery, webhook: Webhook): Promise<Settled>;
};

export type SettlementNeeds = {
  parker: Parker;
  deadLetters: DeadLetters;
  schedule: RetrySchedule;
  /** The receiver asked for quiet. */
  hold(webhook: Webhook, until: number): void;
  record(entry: OutcomeEntry): Promise<void>;
  now(): number;
  random(): number;
  log: Logger;
};

export function openSettlement(needs: SettlementNeeds): Settlement {
  return {
    settle(delivery, webhook, made) {
      const wasAttempted = made?.answers.some(({ answer }) => wasSent(answer)) === true;
      return wasAttempted ? settleAttempt(needs, delivery, { webhook, made }) : wait(needs, delivery, webhook);
    },
    expire: (delivery, webhook) => giveUp(needs, delivery, { webhook, reason: 'expired' }),
    async abandon(delivery, webhook) {
      const fact = { kind: 'given_up', attempts: delivery.attempts, reason: 'destination_deleted' } as const;
      await tell(needs, delivery, { webhook, at: needs.now(), ...fact });
      return 'destination_deleted';
    },
    async skip(delivery, webhook, { reason, rule }) {
      const stopped = rule === undefined ? {} : { rule: ruleText(rule) };
      await tell(needs, delivery, { webhook, at: needs.now(), kind: 'skipped', reason, ...stopped });
      return 'skipped';
    },
    erase: (delivery, webhook) => erase(needs, delivery, webhook),
  };
}

/** It could not be attempted now. */
async function wait(needs: SettlementNeeds, delivery: Delivery, webhook: Webhook): Promise<Settled> {
  const { attempts } = delivery;
  const told =
    attempts === 0 ? tell(needs, delivery, { webhook, at: needs.now(), kind: 'waiting', attempts }) : undefined;
  const settled = await park(needs, delivery, { webhook, tier: UNTRIED_TIER });
  await told;
  return settled;
}

type Made = { webhook: Webhook; made: Attempt };

function settleAttempt(needs: SettlementNeeds, delivery: Delivery, made: Made): Promise<Settled> {
  // What almost always happens needs no judgement, and no copy of the delivery with one more attempt in it.
  if (!isDelivered(delivery, made.made.answers)) return settleUnhappy(needs, delivery, made);
  const facts = { attempt: delivery.attempts + 1, outcome: 'delivered' } as const;
  return needs.record(attemptEntry(delivery, made, facts)).then(() => 'delivered');
}

async function settleUnhappy(needs: SettlementNeeds, delivery: Delivery, { webhook, made }: Made): Promise<Settled> {
  const { schedule, now } = needs;
  const { answers } = made;
  const attempted = withAttempt(delivery, { at: made.startedAt, answers: answers.map(noteOf) });
  const times = { schedule, resumedAt: webhook.resumedAt, now: now(), dice: needs.random() };
  const { outcome, settled } = judge({ delivery: attempted, answers, policy: webhook.policy, ...times });
  const tellAttempt = (letter?: LetterRefused) => {
    const nextAt = outcome.kind === 'retry' ? outcome.dueAt : undefined;
    const facts = { attempt: attempted.attempts, outcome: outcome.kind, nextAt, letter };
    return needs.record(attemptEntry(delivery, { webhook, made }, facts));
  };
  if (outcome.kind === 'discarded' || outcome.kind === 'expired') {
    await tellAttempt(await bury(needs, { ...attempted, settled }, { webhook, reason: outcome.kind }));
    return outcome.kind;
  }
  const told = tellAttempt();
  const end =
    outcome.kind === 'delivered' ? outcome.kind : await follow(needs, { ...attempted, settled }, { webhook, outcome });
  await told;
  return end;
}

type Retry = { webhook: Webhook; outcome: Extract<Outcome, { kind: 'retry' }> };

function follow(needs: SettlementNeeds, delivery: Delivery, { webhook, outcome }: Retry): Promise<Settled> {
  const { tier, dueAt, holdUntil } = outcome;
  if (holdUntil === undefined) return park(needs, { ...delivery, dueAt }, { webhook, tier });
  // The lane is held as a whole. With a time of its own, this one would hold up those behind it for as long.
  needs.hold(webhook, holdUntil);
  return park(needs, { ...delivery, dueAt: needs.now() }, { webhook, tier });
}

async function park(
  needs: SettlementNeeds,
  delivery: Delivery,
  { webhook, tier }: { webhook: Webhook; tier: number },
): Promise<Settled> {
  const parked = await needs.parker.park(webhook.destinationId, tier, delivery);
  if (parked === 'parked') return delivery.attempts === 0 ? 'untried' : 'retry';
  return giveUp(needs, delivery, { webhook, reason: 'lane_full' });
}

/** An end that no attempt tells of. */
async function giveUp(needs: SettlementNeeds, delivery: Delivery, end: GivenUp): Promise<Settled> {
  const { webhook, reason } = end;
  const { attempts } = delivery;
  const letter = await bury(needs, delivery, end);
  await tell(needs, delivery, { webhook, at: needs.now(), kind: 'given_up', attempts, reason, letter });
  return reason;
}

async function erase(needs: SettlementNeeds, { id, event }: Delivery, webhook: Webhook): Promise<Settled> {
  const { workspaceId, sourceId, destinationId } = webhook;
  const base = namelessBase(event, { workspaceId, sourceId, destinationId, deliveryId: id }, needs.now());
  await needs.record({ ...base, kind: 'skipped', reason: 'erased' });
  return 'erased';
}

type GivenUp = { webhook: Webhook; reason: 'expired' | 'lane_full' };

function tell(
  needs: SettlementNeeds,
  { id, event, replayId }: Delivery,
  { webhook, at, ...fact }: Told,
): Promise<void> {
  const { workspaceId, sourceId, destinationId } = webhook;
  const base = entryBase(event, { workspaceId, sourceId, destinationId, deliveryId: id }, at);
  return needs.record({ ...base, ...(replayId === undefined ? {} : { replayId }), ...fact });
}

type Told = { webhook: Webhook; at: number } & OutcomeFact;

/** The letter found no room in the engine, or its workspace has used up its share of it. */
type LetterRefused = 'refused' | undefined;

/**
 * Waits for the engine as parking does. A letter that does not fit must not stop the others: the log names it, and the record
 * says that it was refused.
 */
async function bury(
  { deadLetters, now, log }: SettlementNeeds,
  delivery: Delivery,
  { webhook, reason }: { webhook: Webhook; reason: DeadReason },
): Promise<LetterRefused> {
  const { destinationId } = webhook;
  const letter: DeadLetter = { reason, at: now(), destinationId, delivery };
  // A letter that was replayed and comes back is another one, even within the duplicate window.
  const letterId = `${delivery.id}.${delivery.replayId ?? ''}.${delivery.attempts}.${reason}`;
  const facts = { deliveryId: delivery.id, destinationId, reason, attempts: delivery.attempts };
  const answer = await whenAvailable(() => deadLetters.append(destinationId, letterId, JSON.stringify(letter)));
  if (answer === 'stored') {
    log.info(facts, 'delivery.given_up');
    return undefined;
  }
  log.error(facts, 'dead_letter.refused');
  return 'refused';
}

function noteOf({ url, answer }: TargetAnswer): AnswerNote {
  const ms = Math.round(answer.timings.totalMs);
  return answer.kind === 'status' ? { url, status: answer.status, ms } : { url, error: answer.errorClass, ms };
}

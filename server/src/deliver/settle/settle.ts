import { ruleText } from '@millrace/contract';
import type { Routed } from '../../domain/route-event.ts';
import type { Logger } from '../../log.ts';
import type { OutcomeEntry, OutcomeFact } from '../../domain/outcome.ts';
import type { DeadLetters } from '../../stream/deliveries/dead-letters.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { DeadLetter, DeadReason } from '../../domain/dead-letter.ts';
import { type AnswerNote, type Delivery, UNTRIED_TIER, withAttempt } from '../../domain/delivery.ts';
import { wasSent } from '../dispatch/gate.ts';
import { isDelivered, judge, type TargetAnswer } from '../attempt/judge.ts';
import { attemptEntry, entryBase, namelessBase, ownerOf } from './outcome-entry.ts';
import type { Parker } from './park.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import type { Webhook } from '../attempt/webhook.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type Skipped = Pick<Extract<Routed, { kind: 'skip' }>, 'reason' | 'rule'>;
/** The delivery has ended, or is safe in its lane (`retry`, `untried`). */
export type Settled = 'erased' | 'skipped' | 'destination_deleted' | 'delivered' | 'retry' | 'untried' | DeadReason;

type Behind = readonly Delivery[];

export type Settlement = {
  /**
   * Records the attempt and does what its outcome asks for. Without an attempt, the delivery is parked untried. Those behind it go to the
   * lane with it, in this order, if it does: see `isLeftToLane`.
   */
  settle(delivery: Delivery, webhook: Webhook, attempt: Attempt | undefined, behind?: Behind): Promise<Settled>;
  /**
   * Parks more of a chain whose first part, from `before` on, was left to the lane: behind it in the same tier, where the holder of the
   * lane looks for it. The caller records that they wait.
   */
  follow(delivery: Delivery, webhook: Webhook, before: Delivery, behind: Behind): Promise<Settled>;
  /** Ends a delivery whose retry window was over before its next attempt. */
  expire(delivery: Delivery, webhook: Webhook): Promise<Settled>;
  /** Ends a delivery whose destination was deleted. No dead letter: there is nothing left that it could be sent to. */
  abandon(delivery: Delivery, webhook: Webhook): Promise<Settled>;
  /** Ends a delivery that the destination's filters reject: an older process had parked it undecided. */
  skip(delivery: Delivery, webhook: Webhook, skipped: Skipped): Promise<Settled>;
  /** Ends a delivery whose user was erased while it waited. */
  erase(delivery: Delivery, webhook: Webhook): Promise<Settled>;
};

/** Whether a delivery, and those behind it, are stored in the lane; or those of them buried that it had no room for. */
export function isLeftToLane(settled: Settled): boolean {
  return settled === 'retry' || settled === 'untried' || settled === 'lane_full';
}

/** Two times that are no further apart are the same: each delivery of a batch is judged at its own moment. */
const SAME_MS = 1_000;

export type SettlementNeeds = {
  parker: Parker;
  deadLetters: DeadLetters;
  schedule: RetrySchedule;
  /** Shuts the gate until then: the receiver asked for it by `Retry-After`. */
  hold(webhook: Webhook, until: number): void;
  record(entry: OutcomeEntry): Promise<void>;
  now(): number;
  random(): number;
  log: Logger;
};

/**
 * Decides where a delivery goes after an attempt. It moves from its line in memory to one of: delivered (recorded), a tier of its
 * lane (parked for a retry), or a dead letter. Each function resolves only when NATS has stored that.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openSettlement(needs: SettlementNeeds): Settlement {
  const { parker, deadLetters, schedule, record, now, random, log } = needs;
  /** Until when the `Retry-After` of an attempt has shut the gate. Deliveries of a batch share it, but one near the end of its window asks for less. */
  const held = new WeakMap<Attempt, number>();
  /** The tiers of deliveries that were parked for a retry. */
  const tiers = new WeakMap<Delivery, number>();

  async function settleUnhappy(
    delivery: Delivery,
    webhook: Webhook,
    attempt: Attempt,
    behind: Behind,
  ): Promise<Settled> {
    const { startedAt, answers, events } = attempt;
    const note = { at: startedAt, answers: answers.map(noteOf), ...(events === undefined ? {} : { events }) };
    const attempted = withAttempt(delivery, note);
    const { policy, resumedAt } = webhook;
    const times = { schedule, resumedAt, now: now(), dice: random() };
    const { outcome, settled } = judge({ delivery: attempted, answers, events, policy, ...times });
    const next = { ...attempted, settled };
    const facts = { attempt: next.attempts, outcome: outcome.kind };
    switch (outcome.kind) {
      case 'delivered':
        await record(attemptEntry(delivery, webhook, attempt, facts));
        return 'delivered';
      case 'discarded':
      case 'expired': {
        const letter = await bury(next, webhook, outcome.kind);
        await record(attemptEntry(delivery, webhook, attempt, { ...facts, letter }));
        return outcome.kind;
      }
      case 'retry': {
        const { tier, dueAt, holdUntil } = outcome;
        const nextAt = Math.max(dueAt, times.now);
        const recorded = record(attemptEntry(delivery, webhook, attempt, { ...facts, nextAt }));
        if (holdUntil !== undefined) holdFor(attempt, webhook, holdUntil);
        // A shut gate holds the whole lane. With that time of its own, this delivery would hold up those behind it as long.
        tiers.set(delivery, tier);
        const isHeldAsLong = holdUntil !== undefined && holdUntil >= dueAt;
        const end = await park({ ...next, dueAt: isHeldAsLong ? now() : dueAt }, webhook, tier, behind);
        await recorded;
        return end;
      }
    }
  }

  function holdFor(attempt: Attempt, webhook: Webhook, until: number): void {
    if (until < (held.get(attempt) ?? 0) + SAME_MS) return;
    held.set(attempt, until);
    needs.hold(webhook, until);
  }

  /** Parks a delivery that was not attempted: its gate was shut, its line too long, or there was no slot. */
  async function wait(delivery: Delivery, webhook: Webhook, behind: Behind): Promise<Settled> {
    const { attempts } = delivery;
    const recorded = attempts === 0 ? tell(delivery, webhook, { kind: 'waiting', attempts }) : undefined;
    const end = await park(delivery, webhook, UNTRIED_TIER, behind);
    await recorded;
    return end;
  }

  async function park(delivery: Delivery, webhook: Webhook, tier: number, behind: Behind): Promise<Settled> {
    const stored = await parker.park(webhook.destinationId, tier, delivery, behind);
    // In their order: a retry of dead letters sends them as they are stored.
    for (const each of [delivery, ...behind].slice(stored)) await giveUp(each, webhook, 'lane_full');
    if (stored === 0) return 'lane_full';
    return delivery.attempts === 0 ? 'untried' : 'retry';
  }

  /** Ends a delivery without an attempt that would tell of it. */
  async function giveUp(delivery: Delivery, webhook: Webhook, reason: 'expired' | 'lane_full'): Promise<Settled> {
    const letter = await bury(delivery, webhook, reason);
    await tell(delivery, webhook, { kind: 'given_up', attempts: delivery.attempts, reason, letter });
    return reason;
  }

  function tell(delivery: Delivery, webhook: Webhook, fact: OutcomeFact): Promise<void> {
    const { event, replayId } = delivery;
    const base = entryBase(event, ownerOf(delivery, webhook), now());
    return record({ ...base, ...(replayId === undefined ? {} : { replayId }), ...fact });
  }

  /**
   * Stores a dead letter, and waits for NATS as parking does. One that finds no room (in the stream, or in its workspace's share)
   * must not stop the others: the log names it, and the record says that it was refused.
   */
  async function bury(delivery: Delivery, webhook: Webhook, reason: DeadReason): Promise<'refused' | undefined> {
    const { id, replayId = '', attempts } = delivery;
    const { destinationId } = webhook;
    const { hasMore: _, isMore: __, ...alone } = delivery;
    const letter: DeadLetter = { reason, at: now(), destinationId, delivery: alone };
    // A letter that was replayed and comes back is another one, even within the duplicate window.
    const letterId = `${id}.${replayId}.${attempts}.${reason}`;
    const facts = { deliveryId: id, destinationId, reason, attempts };
    const answer = await whenAvailable(() => deadLetters.append(destinationId, letterId, JSON.stringify(letter)));
    if (answer === 'stored') {
      log.info(facts, 'delivery.given_up');
      return undefined;
    }
    log.error(facts, 'dead_letter.refused');
    return 'refused';
  }

  return {
    settle(delivery, webhook, attempt, behind = []) {
      const wasAttempted = attempt?.answers.some(({ answer }) => wasSent(answer)) === true;
      // The owner removed the targets that it still had to be sent to: the settled ones decide. Parked, it would come back at once.
      if (attempt?.answers.length === 0 && delivery.settled !== undefined) {
        return settleUnhappy(delivery, webhook, attempt, behind);
      }
      if (!wasAttempted) return wait(delivery, webhook, behind);
      // Nearly every attempt delivers: that needs no judgement, and no copy of the delivery with one more attempt in it.
      if (!isDelivered(delivery, attempt.answers)) return settleUnhappy(delivery, webhook, attempt, behind);
      const facts = { attempt: delivery.attempts + 1, outcome: 'delivered' } as const;
      return record(attemptEntry(delivery, webhook, attempt, facts)).then(() => 'delivered');
    },
    follow: (delivery, webhook, before, behind) =>
      park({ ...delivery, isMore: true }, webhook, tiers.get(before) ?? UNTRIED_TIER, behind),
    expire: (delivery, webhook) => giveUp(delivery, webhook, 'expired'),
    async abandon(delivery, webhook) {
      const { attempts } = delivery;
      await tell(delivery, webhook, { kind: 'given_up', attempts, reason: 'destination_deleted' });
      return 'destination_deleted';
    },
    async skip(delivery, webhook, { reason, rule }) {
      const stopped = rule === undefined ? {} : { rule: ruleText(rule) };
      await tell(delivery, webhook, { kind: 'skipped', reason, ...stopped });
      return 'skipped';
    },
    async erase(delivery, webhook) {
      const base = namelessBase(delivery.event, ownerOf(delivery, webhook), now());
      await record({ ...base, kind: 'skipped', reason: 'erased' });
      return 'erased';
    },
  };
}

function noteOf({ url, answer }: TargetAnswer): AnswerNote {
  const ms = Math.round(answer.timings.totalMs);
  return answer.kind === 'status' ? { url, status: answer.status, ms } : { url, error: answer.errorClass, ms };
}

/**
 * Attempts deliveries of one chain (the events of one user in one request) one after the other, as they came out of a group of the lane.
 * The next one begins when the one before is delivered or given up. When one fails, it and those behind it go to its next tier with one
 * write; when the time is up, those that are left stay in their group, and the next look goes on with them: a long chain is not
 * written again for each look. So a chain is never in two groups, and a crash repeats some of it in its order.
 */
import type { Delivery } from '../../domain/delivery.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { isDelivered } from '../attempt/judge.ts';
import type { Webhook } from '../attempt/webhook.ts';
import { wasSent } from '../dispatch/gate.ts';
import { isLeftToLane, type Settled, type Settlement } from '../settle/settle.ts';
import type { Taken } from './tier-group.ts';

export type ChainNeeds = {
  /** Undefined for a delivery that is to be attempted. */
  finishUnsent(delivery: Delivery, webhook: Webhook): Promise<Settled> | undefined;
  /** Resolves with undefined when no attempt was made. */
  attempt(delivery: Delivery, webhook: Webhook): Promise<Attempt | undefined>;
  settle: Settlement['settle'];
  /** Without `settled`, the delivery was not touched. */
  end(taken: Taken, settled: Settled | undefined): void;
  mayGoOn(): boolean;
  /** Others of the chain were before the first one, in an earlier look. */
  isInTurn: boolean;
  now(): number;
};

/** Resolves when all of them are done, stored in the lane, or kept in their group. */
export async function runChain(chain: readonly Taken[], webhook: Webhook, needs: ChainNeeds): Promise<void> {
  const recorded: Promise<void>[] = [];
  for (const [index, link] of chain.entries()) {
    const isFirst = index === 0;
    const delivery = isFirst && !needs.isInTurn ? link.delivery : inTurn(link.delivery, needs.now());
    const isTimeUp = !isFirst && !needs.mayGoOn();
    const unsent = isTimeUp ? undefined : needs.finishUnsent(delivery, webhook);
    if (unsent !== undefined) {
      needs.end(link, await unsent);
      continue;
    }
    const made = isTimeUp ? undefined : sentOrNot(await needs.attempt(delivery, webhook));
    if (made !== undefined && isDelivered(delivery, made.answers)) {
      // The next one need not wait until the record knows of this one.
      recorded.push(needs.settle(delivery, webhook, made).then((settled) => needs.end(link, settled)));
      continue;
    }
    const behind = chain.slice(index + 1);
    const deliveries = behind.map((each) => each.delivery);
    // One that was handed back stays where it is, with those behind it, as any other delivery.
    const settled = made === undefined ? undefined : await needs.settle(delivery, webhook, made, deliveries);
    needs.end(link, settled);
    if (settled !== undefined && !isLeftToLane(settled)) continue;
    for (const each of behind) needs.end(each, settled);
    break;
  }
  await Promise.all(recorded);
}

/** The client had no room for any of it: as if it was handed back. */
function sentOrNot(made: Attempt | undefined): Attempt | undefined {
  const { answers = [] } = made ?? {};
  return answers.length > 0 && !answers.some(({ answer }) => wasSent(answer)) ? undefined : made;
}

/** Its window begins now: it could not be attempted while another one was before it. */
function inTurn(delivery: Delivery, now: number): Delivery {
  return delivery.attempts === 0 ? { ...delivery, takenAt: now } : delivery;
}

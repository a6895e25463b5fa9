import { type Delivery, encodeDeliveries } from '../../domain/delivery.ts';
import { type LaneItem, readDeliveries } from '../../domain/read-deliveries.ts';
import { withheld } from '../../domain/withheld.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import type { LaneGroup, LanePlace, Lanes } from '../../stream/deliveries/lanes.ts';
import { isPassed, type LaneNote, positionIn, progressIn } from './lane-note.ts';
import type { Settlement } from '../settle/settle.ts';
import type { Webhook } from '../attempt/webhook.ts';

export type ScrubNeeds = {
  lanes: Pick<Lanes, 'read' | 'append' | 'remove'>;
  config: DeliverConfig;
  erase: Settlement['erase'];
  now(): number;
};

export type Scrubbing = { webhook: Webhook; note: LaneNote; counts: ReadonlyMap<number, number> };

/** An attempt that was under way when its user was erased may have put its delivery back: until then it is looked for. */
const UNDER_WAY_MS = 20_000;
const READ_AT_ONCE = 32;

export function isErasedIn(config: DeliverConfig, webhook: Webhook): (delivery: Delivery) => boolean {
  const markOf = (userId: string) => config.userMark(webhook.sourceId, userId);
  return ({ event, sourceId }) => {
    const markOfComputed = (userId: string) => config.userMark(sourceId ?? '', userId, webhook.workspaceId);
    return withheld(event, sourceId === undefined ? markOf : markOfComputed) === 'erased';
  };
}

/**
 * Takes the deliveries of erased users out of a lane, also if they are not due for long or the lane is paused. Only the holder of
 * the ticket may do it. A group that held one is written again without it, at the end of its tier.
 */
export async function scrubLane({ webhook, note, counts }: Scrubbing, needs: ScrubNeeds): Promise<void> {
  const lastErasureAt = needs.config.lastErasureAt(webhook.workspaceId);
  if (lastErasureAt === undefined || (note.scrubbedAt ?? 0) > lastErasureAt + UNDER_WAY_MS) return;
  const isErased = isErasedIn(needs.config, webhook);
  let areAllSeen = true;
  const startedAt = needs.now();
  for (const [tier, groups] of counts) {
    const place = { destinationId: webhook.destinationId, tier };
    const seen = await scrubTier(place, { isErased, webhook, note }, needs);
    areAllSeen &&= seen >= groups;
  }
  // A replica that lags may not have shown all.
  if (areAllSeen) note.scrubbedAt = startedAt;
}

type Rule = { isErased(delivery: Delivery): boolean; webhook: Webhook; note: LaneNote };

async function scrubTier(place: LanePlace, rule: Rule, needs: ScrubNeeds): Promise<number> {
  const start = positionIn(rule.note, place.tier) ?? { sequence: 1, taken: 0 };
  let seen = 0;
  for (let from = 1; ; ) {
    const groups = await needs.lanes.read(place, from, READ_AT_ONCE);
    for (const group of groups) {
      from = group.sequence + 1;
      if (isPassed(start, group)) continue;
      await scrubGroup(place, { ...rule, group, ...progressIn(start, group) }, needs);
    }
    seen += groups.length;
    if (groups.length === 0) return seen;
  }
}

/** Append before removal: a crash in between repeats deliveries, never loses one. */
async function scrubGroup(
  place: LanePlace,
  { group, taken, ahead, isErased, webhook }: Rule & { group: LaneGroup; taken: number; ahead: readonly number[] },
  { lanes, erase }: ScrubNeeds,
): Promise<void> {
  const read = readDeliveries(group.payload, group.format);
  // The tier reader puts it into quarantine, or leaves it for a newer process.
  if (!read.ok) return;
  const isOfErased = (item: LaneItem) => item.ok && isErased(item.delivery);
  if (!read.value.some(isOfErased)) return;
  const left = read.value.filter((_, index) => index >= taken && !ahead.includes(index));
  const rest = left.filter((item) => !isOfErased(item));
  if (rest.length > 0) {
    const payload = encodeDeliveries(rest.map((item) => JSON.stringify(item.ok ? item.delivery : item.item)));
    const appended = await lanes.append(place, payload);
    if (appended !== 'stored') throw new Error(`a lane could not be written anew: ${appended}`);
  }
  await lanes.remove(place, group.sequence);
  for (const item of left) if (item.ok && isErased(item.delivery)) await erase(item.delivery, webhook);
}

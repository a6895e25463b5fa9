import type { AcceptedEvent, JsonObject, JsonValue } from '@millrace/contract';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import type { Dice } from './dice.ts';
import { BORDERS, CATEGORIES, EVENT_NAMES, PLANS, SOURCES } from './random-definitions.ts';

export const WORKSPACES = ['ws_history', 'ws_other'] as const;
export const STARTS_AT = Date.UTC(2026, 5, 1);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export type HistoryOptions = {
  events: number;
  /** The time from one event to the next, at most. */
  stepMs: number;
  /**
   * No device is shared, nothing is an alias, no call comes again with another time: the order of the events makes no difference.
   */
  isOrderFree?: boolean;
  hasDuplicates?: boolean;
  /** Another workspace sends calls with the same ids. */
  hasOther?: boolean;
};

/** Histories of very different density: many events within minutes, or a few over years. */
export function randomOptions(dice: Dice): HistoryOptions {
  return {
    events: dice.whole(5, 60),
    stepMs: dice.pick([30_000, 20 * MINUTE, 6 * HOUR, 3 * DAY, 20 * DAY]),
    hasDuplicates: true,
    hasOther: dice.isWithin(0.2),
  };
}

/** Events by the time of their receipt: some late, some from the future, some twice, of users with several devices. */
export function randomHistory(dice: Dice, options: HistoryOptions): SourceEvent[] {
  const events: SourceEvent[] = [];
  let receivedAt = STARTS_AT;
  for (let n = 0; n < options.events; n += 1) {
    receivedAt += dice.isWithin(0.2) ? 0 : Math.floor(dice.next() * options.stepMs);
    const isAgain = options.hasDuplicates === true && events.length > 0 && dice.isWithin(0.1);
    events.push(isAgain ? again(dice, dice.pick(events), receivedAt, options) : made(dice, n, receivedAt, options));
  }
  return events.toSorted((a, b) => Date.parse(a.event.receivedAt) - Date.parse(b.event.receivedAt));
}

/** The same call once more: within hours, so late that it counts again, or right before and after it begins to. */
function again(
  dice: Dice,
  { event, ...from }: SourceEvent,
  now: number,
  { isOrderFree = false }: HistoryOptions,
): SourceEvent {
  const first = Date.parse(event.receivedAt);
  const chance = isOrderFree ? 0 : dice.next();
  const edge = (Math.floor(first / HOUR) + dice.pick([24, 25])) * HOUR;
  const receivedAt =
    chance < 0.7
      ? first + dice.whole(0, 10 * HOUR)
      : chance < 0.9
        ? edge - dice.whole(0, 1)
        : Math.max(now, first + 27 * HOUR);
  return { ...from, event: { ...event, receivedAt: new Date(receivedAt).toISOString() } };
}

function made(dice: Dice, n: number, receivedAt: number, options: HistoryOptions): SourceEvent {
  const { isOrderFree = false, hasOther = false } = options;
  const event = {
    messageId: `m${n}-${dice.whole(0, 1e9)}`,
    ...callOf(dice, isOrderFree),
    ...(isOrderFree ? ownIds(dice) : idsOf(dice)),
    context: dice.isWithin(0.5) ? { locale: dice.pick(['de-CH', 'en']) } : {},
    receivedAt: new Date(receivedAt).toISOString(),
    timestamp: new Date(Math.min(happenedAt(dice, receivedAt), isOrderFree ? receivedAt : Infinity)).toISOString(),
  };
  const workspaceId = hasOther ? dice.pick(WORKSPACES) : WORKSPACES[0];
  return { workspaceId, sourceId: dice.pick(SOURCES), event: event as unknown as AcceptedEvent };
}

function happenedAt(dice: Dice, receivedAt: number): number {
  const chance = dice.next();
  if (chance < 0.6) return receivedAt - dice.whole(0, 5_000);
  if (chance < 0.64) return receivedAt + dice.whole(0, 10 * DAY);
  if (chance < 0.68) return receivedAt - dice.whole(0, 400 * DAY);
  if (chance < 0.75) return dice.pick(BORDERS.filter((border) => border <= receivedAt)) - dice.whole(0, 1);
  // At the very edge of buckets.
  if (chance < 0.8) return Math.floor(receivedAt / HOUR) * HOUR - dice.whole(0, 1);
  return receivedAt - dice.whole(0, dice.pick([10 * MINUTE, 5 * HOUR, 10 * DAY]));
}

function idsOf(dice: Dice): object {
  const chance = dice.next();
  const userId = dice.isWithin(0.03) ? dice.pick(['null', '-1', '0000']) : `u${dice.whole(1, 3)}`;
  const anonymousId = dice.isWithin(0.03) ? 'anonymous' : `a${dice.whole(1, 4)}`;
  if (chance < 0.45) return { userId };
  return chance < 0.75 ? { anonymousId } : { userId, anonymousId };
}

/** Each device is of one user only. */
function ownIds(dice: Dice): object {
  const user = dice.whole(1, 2);
  const ids = { userId: `u${user}`, anonymousId: `a${user * 2 - dice.whole(0, 1)}` };
  return dice.pick<object>([{ userId: ids.userId }, { anonymousId: ids.anonymousId }, ids]);
}

function callOf(dice: Dice, isOrderFree: boolean): object {
  const chance = dice.next();
  if (chance < 0.6) return { type: 'track', event: dice.pick(EVENT_NAMES), properties: properties(dice) };
  if (chance < 0.7) return { type: 'page', ...dice.pick([{}, { name: 'Pricing' }]), properties: properties(dice) };
  if (chance < 0.75) return { type: 'screen', name: dice.pick(['Home', 'Cart']), properties: properties(dice) };
  if (chance < 0.9) return { type: 'identify', traits: traits(dice) };
  if (chance < 0.95 || isOrderFree) return { type: 'group', groupId: dice.pick(['g1', 'g2', 'null']) };
  return {
    type: 'alias',
    userId: `u${dice.whole(1, 3)}`,
    previousId: dice.pick(['u1', 'u2', 'u3', 'a1', 'a2', 'null']),
  };
}

function properties(dice: Dice): JsonObject {
  const found: JsonObject = {};
  if (dice.isWithin(0.8)) found['category'] = dice.pick<JsonValue>([...CATEGORIES, ...CATEGORIES, 7, null, ['shoes']]);
  if (dice.isWithin(0.8)) found['revenue'] = revenue(dice);
  if (dice.isWithin(0.3)) found['gift'] = dice.isWithin(0.5);
  return found;
}

function revenue(dice: Dice): JsonValue {
  const chance = dice.next();
  if (chance < 0.5) return dice.whole(0, 100);
  if (chance < 0.8) return dice.whole(-2_000, 10_000) / 100;
  if (chance < 0.9) return dice.next() * 100;
  return dice.pick<JsonValue>(['12', null, 9e14, -9e14, 1e16, 0.1, 0.0000005, 0]);
}

function traits(dice: Dice): JsonObject {
  const found: JsonObject = {};
  if (dice.isWithin(0.7)) found['plan'] = dice.pick<JsonValue>([...PLANS, null]);
  if (dice.isWithin(0.4)) found['age'] = dice.whole(10, 70);
  if (dice.isWithin(0.4))
    found['address'] = dice.pick<JsonValue>([{ city: 'Bern' }, { city: 'Chur', zip: 7000 }, { zip: 1 }, null, 'x']);
  return found;
}

/** Random traffic, and definitions that are made, edited and deleted in the middle of it. */
import type { AcceptedEvent, FilterRule } from '@millrace/contract';
import type { Condition, Definition, EventLeaf } from '@millrace/contract/audiences';
import { updateDefinition } from '../../src/store/definitions/definitions.ts';
import { deleteDefinition } from '../../src/store/definitions/lifecycle.ts';
import { changeDefinition, editDefinition } from '../definitions.ts';
import { WORKSPACE } from '../profile-store.ts';
import type { Dice } from './dice.ts';
import { type LifeBed, SOURCES, STREAMS } from './life-bed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Far from the edges of the windows below, by hours that the clock of a test does not pass. */
const AGES = [0, 5 * MINUTE, 3 * HOUR, 3 * DAY, 15 * DAY];

const audience = (when: Condition): Definition => ({ kind: 'audience', name: 'A', when });
const trait = (fields: object): Definition => ({ kind: 'trait', name: 'T', settleSeconds: 0, ...fields }) as Definition;
const order = (fields: Omit<EventLeaf, 'event'>) => ({ event: 'Order', ...fields });
const home: FilterRule[] = [{ field: 'properties.page', op: 'equals', value: 'home' }];

const EDITS: ((dice: Dice) => Definition)[] = [
  (dice) => audience(order({ sum: 'properties.total', window: '30d', atLeast: dice.whole(5, 40) })),
  (dice) => audience(order({ window: dice.pick(['7d', '30d', '100d']), atLeast: dice.whole(1, 4) })),
  (dice) => audience(order({ atLeast: dice.whole(2, 5) })),
  () => audience(order({ window: '2h', atLeast: 2 })),
];
const KINDS: ((dice: Dice) => Definition)[] = [
  ...EDITS,
  () =>
    audience({
      all: [{ not: { event: 'Visit', window: '7d', atLeast: 1 } }, { trait: 'plan', op: 'equals', value: 'pro' }],
    }),
  () => audience({ event: 'Visit', where: home, window: '7d', lessThan: 2 }),
  () => ({ ...audience(order({ window: '30d', atLeast: 1 })), sources: ['src_1'] }),
  () => trait({ compute: 'count', event: 'Visit', window: '30d' }),
  () => trait({ compute: 'last', event: 'Order', field: 'properties.total' }),
  () => trait({ compute: 'unique_list', event: 'Visit', field: 'properties.page', window: '30d' }),
];

/** A name for each call and key, also when there are several of these. */
let made = 0;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openRandomLives(bed: LifeBed, dice: Dice) {
  const lives = new Map<string, Definition>();
  const past: { sourceId: string; event: AcceptedEvent }[] = [];
  const isAsked = (id: string) => [...lives.values()].some((each) => JSON.stringify(each).includes(id));

  async function create(): Promise<void> {
    const asked = [...lives].filter(([, { kind }]) => kind === 'audience').map(([id]) => id);
    const asks = asked.length > 0 && dice.isWithin(0.15);
    const definition = asks
      ? audience({ any: [{ not: { audience: dice.pick(asked) } }, order({ window: '30d', atLeast: 3 })] })
      : dice.pick(KINDS)(dice);
    const id = await bed.create({
      key: `key_${(made += 1)}`,
      destinations: dice.isWithin(0.3) ? [] : ['dst_1'],
      definition,
    });
    lives.set(id, definition);
  }

  async function edit(): Promise<void> {
    const rows = await bed.sql<{ id: string }>(
      `SELECT id FROM definitions d WHERE state = 'live' AND NOT EXISTS (
        SELECT FROM definition_versions e WHERE e.definition = d.number AND e.state IN ('preparing', 'computing')) ORDER BY number`,
    );
    const able = rows.filter(({ id }) => lives.get(id)?.kind === 'audience' && !isAsked(id));
    if (able.length === 0) return;
    const { id } = dice.pick(able);
    const definition = dice.pick(EDITS)(dice);
    await editDefinition(bed.store, { workspaceId: WORKSPACE, id }, definition);
    lives.set(id, definition);
  }

  /** A destination comes to a definition that has none. */
  async function attach(): Promise<boolean> {
    const sql = `SELECT id FROM definitions WHERE destinations = '{}' AND state NOT IN ('deleting', 'deleted') ORDER BY number`;
    const rows = await bed.sql<{ id: string }>(sql);
    if (rows.length === 0) return false;
    const name = { workspaceId: WORKSPACE, id: dice.pick(rows).id };
    await changeDefinition(bed.store, WORKSPACE, (tx, change) =>
      updateDefinition(tx, change, name, { destinations: ['dst_1'] }),
    );
    return true;
  }

  async function end(): Promise<void> {
    const able = [...lives.keys()].filter((id) => !isAsked(id));
    if (able.length < 2) return;
    const name = { workspaceId: WORKSPACE, id: dice.pick(able) };
    const how = dice.pick(['exit', 'leave'] as const);
    await changeDefinition(bed.store, WORKSPACE, (tx, change) => deleteDefinition(tx, change, name, how));
    lives.delete(name.id);
  }

  return {
    create,
    /** Calls, some of them for the second time. */
    traffic(count: number): void {
      for (let n = 0; n < count; n += 1) {
        const again = past.length > 0 && dice.isWithin(0.1) ? dice.pick(past) : undefined;
        const each = again ?? { sourceId: dice.pick(SOURCES), event: randomEvent(dice, bed.streams.now()) };
        past.push(each);
        const event = { ...each.event, receivedAt: new Date(bed.streams.now()).toISOString() };
        bed.send(dice.pick(STREAMS), each.sourceId, [event]);
      }
    },
    /** Something changes, or time passes. */
    async change(): Promise<void> {
      const chance = dice.next();
      if (chance < 0.3) await create();
      else if (chance < 0.45) await edit();
      else if (chance < 0.6) await end();
      else if (chance < 0.7) await attach();
      else if (chance < 0.75) bed.streams.pass(dice.whole(1, 20) * MINUTE);
    },
    /** Everyone has to be told in the end. Whether there was something to attach. */
    async attachAll(): Promise<boolean> {
      if (!(await attach())) return false;
      while (await attach());
      return true;
    },
    all: () => [...lives].map(([id, definition]) => ({ id, definition })),
  };
}

/** Each device belongs to one user, and each previous id becomes part of one. */
function randomEvent(dice: Dice, receivedAt: number): AcceptedEvent {
  const n = dice.whole(1, 15);
  const ids = dice.pick<object>([
    { userId: `u${n}` },
    { anonymousId: `a${n}` },
    { userId: `u${n}`, anonymousId: `a${n}` },
    { userId: `p${n}` },
  ]);
  const call = dice.pick<object>([
    { type: 'track', event: 'Order', properties: { total: dice.whole(1, 9) } },
    { type: 'track', event: 'Visit', properties: { page: dice.pick(['home', 'cart']) } },
    { type: 'identify', traits: { plan: dice.pick(['pro', 'free']) } },
  ]);
  const alias = { type: 'alias', userId: `u${n}`, previousId: `p${n}` };
  const times = {
    timestamp: new Date(receivedAt - dice.pick(AGES)).toISOString(),
    receivedAt: new Date(receivedAt).toISOString(),
  };
  const event = dice.isWithin(0.03) ? alias : { ...call, ...ids };
  return { messageId: `m${(made += 1)}`, context: {}, ...event, ...times } as unknown as AcceptedEvent;
}

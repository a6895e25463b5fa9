/**
 * Parks deliveries in lanes, gathered into groups. A group is gathering (in `gathering`, open for more), then storing, then
 * settled. The timer or a full group moves it from gathering to storing; the lane appender settles it. While NATS is away, a
 * group stays in storing and the requests behind its deliveries stay unacknowledged.
 */
import type { Delivery } from '../../domain/delivery.ts';
import { type AppenderNeeds, hasRoom, openLaneAppender } from '../../stream/deliveries/append-to-lane.ts';
import type { LanePlace } from '../../stream/deliveries/lanes.ts';
import type { Wanted } from '../../stream/deliveries/tickets.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type Parker = {
  /**
   * Resolves when the delivery is stored in its lane and the lane has a ticket, or when the lane is full. Those behind it are stored
   * in the same group: so they are read together, and leave the tier together. Tells how many are stored, from the first one on:
   * a long chain is several groups, and the lane may have room for some of them.
   */
  park(destinationId: string, tier: number, delivery: Delivery, behind?: readonly Delivery[]): Promise<number>;
};

export type Parkers = Disposable &
  Parker & {
    /** For the holder of the lane's ticket, which gives the ticket back in time for the deliveries it parked. */
    forHolder: Parker;
    /** The groups that the holder parked in this lane since it last asked; undefined for none. */
    takeParked(destinationId: string): Parked | undefined;
  };

/** Groups by their tier, and the time of the first delivery in them. */
export type Parked = { groups: Map<number, number>; dueAt: number };

export type ParkerNeeds = Pick<AppenderNeeds, 'write' | 'tickets'> & {
  /** When the lane should be looked at for this delivery, and whether a later time is not good enough. */
  wanted(destinationId: string, delivery: Pick<Delivery, 'dueAt' | 'attempts'>): WantedLook;
};

/** `isBySettings`: the destination's settings hold the delivery back, and may have changed by the time the lane has it. */
type WantedLook = Wanted & { isBySettings?: boolean };

type Group = {
  key: string;
  destinationId: string;
  tier: number;
  isHeld: boolean;
  texts: string[];
  bytes: number;
  wanted: WantedLook;
  /** Of the first delivery in it. */
  dueAt: number;
  /** Of the delivery that had the fewest. */
  attempts: number;
  settled: PromiseWithResolvers<'parked' | 'full'>;
};

/** Deliveries for the same place that come within this time are stored with one write. */
const GATHER_MS = 20;
/** A group is one message, and NATS takes a megabyte. A longer chain is cut in two. */
const MAX_CHAIN_BYTES = 512_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openParker({ write, tickets, wanted }: ParkerNeeds): Parkers {
  const appender = openLaneAppender({ write, tickets, retry: whenAvailable });
  const gathering = new Map<string, Group>();
  /** Keys of groups that are being stored: meanwhile, deliveries for the same place gather in the next group. */
  const storing = new Set<string>();
  const byHolders = new Map<string, Parked>();
  let timer: NodeJS.Timeout | undefined;

  const parkWith = (isHeld: boolean): Parker => {
    const park: Parker['park'] = async (destinationId, tier, delivery, behind = []) => {
      const chain = [delivery, ...behind];
      const fitting = fittingIn(chain);
      if (fitting < chain.length) return parkParts(park, { destinationId, tier }, chain, fitting);
      const texts = chain.map((each) => JSON.stringify(each));
      const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      const group = groupFor(destinationId, tier, isHeld, bytes);
      group.texts.push(...texts);
      group.bytes += bytes;
      group.wanted = soonest(group.wanted, wanted(destinationId, delivery));
      group.dueAt = Math.min(group.dueAt, delivery.dueAt);
      group.attempts = Math.min(group.attempts, delivery.attempts);
      timer ??= setTimeout(storeAll, GATHER_MS);
      return (await group.settled.promise) === 'parked' ? texts.length : 0;
    };
    return { park };
  };

  function groupFor(destinationId: string, tier: number, isHeld: boolean, bytes: number): Group {
    const key = `${destinationId}.${tier}.${isHeld}`;
    const known = gathering.get(key);
    if (known !== undefined && hasRoom(known, bytes)) return known;
    if (known !== undefined) void store(known);
    const unasked = { wanted: { dueAt: Infinity, hurry: false }, dueAt: Infinity, attempts: Infinity };
    const empty = { texts: [], bytes: 0, ...unasked };
    const group = { key, destinationId, tier, isHeld, ...empty, settled: Promise.withResolvers<'parked' | 'full'>() };
    gathering.set(key, group);
    return group;
  }

  function storeAll(): void {
    timer = undefined;
    for (const group of gathering.values()) if (!storing.has(group.key)) void storeInTurn(group);
  }

  /** One write at a time for each place: thousands of deliveries handed back at once cost a write a lane, not a write each. */
  async function storeInTurn(first: Group): Promise<void> {
    const { key } = first;
    storing.add(key);
    for (let group: Group | undefined = first; group !== undefined; group = gathering.get(key)) {
      gathering.delete(key);
      await store(group);
    }
    storing.delete(key);
  }

  async function store(group: Group): Promise<void> {
    // A person may have resumed the destination meanwhile, when this process did not know of the lane yet. But the turn at a busy
    // host is that of the time when the delivery came back.
    const look = () => (group.wanted.isBySettings === true ? wanted(group.destinationId, group) : group.wanted);
    const answer = await appender.append(group, [group], group.isHeld ? undefined : look);
    if (answer === 'stored' && group.isHeld) noteParked(group);
    group.settled.resolve(answer === 'stored' ? 'parked' : 'full');
  }

  function noteParked({ destinationId, tier, dueAt }: Group): void {
    const before = byHolders.get(destinationId) ?? { groups: new Map<number, number>(), dueAt: Infinity };
    before.groups.set(tier, (before.groups.get(tier) ?? 0) + 1);
    byHolders.set(destinationId, { groups: before.groups, dueAt: Math.min(before.dueAt, dueAt) });
  }

  return {
    ...parkWith(false),
    forHolder: parkWith(true),
    takeParked(destinationId) {
      const parked = byHolders.get(destinationId);
      byHolders.delete(destinationId);
      return parked;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      appender[Symbol.dispose]();
    },
  };
}

/** How many deliveries fit into one group; one always does. */
function fittingIn(chain: readonly Delivery[]): number {
  let bytes = 0;
  const tooMany =
    chain.length === 1
      ? -1
      : chain.findIndex((each) => {
          bytes += Buffer.byteLength(JSON.stringify(each));
          return bytes > MAX_CHAIN_BYTES;
        });
  return tooMany === -1 ? chain.length : Math.max(1, tooMany);
}

/** The second part is stored when the first one is: so it is behind it in the tier. Marks tell the holder of the lane that they belong together. */
async function parkParts(
  park: Parker['park'],
  { destinationId, tier }: LanePlace,
  chain: readonly Delivery[],
  fitting: number,
): Promise<number> {
  const [first, ...behind] = chain.slice(0, fitting);
  const [next, ...rest] = chain.slice(fitting);
  if (first === undefined || next === undefined) return 0;
  const last = behind.pop();
  const marked = { ...(last ?? first), hasMore: true } as const;
  const stored = await (last === undefined
    ? park(destinationId, tier, marked)
    : park(destinationId, tier, first, [...behind, marked]));
  if (stored < fitting) return stored;
  return stored + (await park(destinationId, tier, { ...next, isMore: true }, rest));
}

function soonest(one: WantedLook, other: WantedLook): WantedLook {
  const isUrgent = one.isUrgent === true || other.isUrgent === true;
  const isBySettings = one.isBySettings === true || other.isBySettings === true;
  return { dueAt: Math.min(one.dueAt, other.dueAt), hurry: one.hurry || other.hurry, isUrgent, isBySettings };
}

import type { DeliverySide } from '../../stream/open-delivery-side.ts';
import type { Kept } from '../../stream/deliveries/shares.ts';
import type { Ensured, Wanted } from '../../stream/deliveries/tickets.ts';
import { type Delivery, encodeDeliveries } from '../../domain/delivery.ts';
import { whenAvailable } from '../../stream/nats/when-available.ts';

export type Parker = {
  /** Resolves when the delivery is stored in its lane and somebody will come for it, or when the lane is full. */
  park(destinationId: string, tier: number, delivery: Delivery): Promise<'parked' | 'full'>;
};

export type Parkers = Disposable &
  Parker & {
    /** For who holds the lane's ticket: they know what they parked, and give the ticket back in time for it. */
    forHolder: Parker;
    /** What the holder parked in this lane since they were last told; undefined for nothing. */
    takeParked(destinationId: string): Parked | undefined;
  };

/** Groups by their tier, and the time of the first delivery in them. */
export type Parked = { groups: Map<number, number>; dueAt: number };

export type ParkerNeeds = Pick<DeliverySide, 'lanes' | 'tickets'> & {
  /** When the lane should be looked at for this delivery, and whether a later time is not good enough. */
  wanted(destinationId: string, delivery: Delivery): Wanted;
  /**
   * Whether the lane holds all it may. What its holder took from it and puts back was counted already: it is only refused when
   * the lane is over a quota of the settings.
   */
  isFull(destinationId: string, isPutBack: boolean): boolean;
  /** Counts the bytes while they are stored, and afterwards. */
  storing(destinationId: string, bytes: number, store: () => Promise<Kept>): Promise<Kept>;
  appended(destinationId: string, bytes: number): void;
};

/** Deliveries for one tier of one lane that are stored with one write. */
type Group = {
  key: string;
  destinationId: string;
  tier: number;
  isHeld: boolean;
  texts: string[];
  bytes: number;
  wanted: Wanted;
  /** Of the first one in it. */
  dueAt: number;
  settled: PromiseWithResolvers<'parked' | 'full'>;
};

type State = {
  needs: ParkerNeeds;
  gathering: Map<string, Group>;
  /** Keys of groups that are being stored: what comes for the same place meanwhile is gathered until that is done. */
  storing: Set<string>;
  timer: NodeJS.Timeout | undefined;
  lookingAgain: Map<string, NodeJS.Timeout>;
  byHolders: Map<string, Parked>;
};

/** What comes within so short a time is gathered. */
const GATHER_MS = 20;
const MAX_DELIVERIES = 100;
const MAX_BYTES = 65_536;
/** While somebody holds the ticket, they may or may not see what just came: a look afterwards makes sure. */
const LOOK_AGAIN_MS = 3_000;

/**
 * Puts deliveries into lanes, gathered. While the engine is away this waits for it: what is not stored is not let go of,
 * and the requests behind it are acknowledged later.
 */
export function openParker(needs: ParkerNeeds): Parkers {
  const places = { gathering: new Map(), storing: new Set<string>(), lookingAgain: new Map(), byHolders: new Map() };
  const state: State = { needs, ...places, timer: undefined };
  const parkWith = (isHeld: boolean): Parker['park'] => {
    return (destinationId, tier, delivery) => gather(state, delivery, { destinationId, tier, isHeld });
  };
  return {
    park: parkWith(false),
    forHolder: { park: parkWith(true) },
    takeParked(destinationId) {
      const parked = state.byHolders.get(destinationId);
      state.byHolders.delete(destinationId);
      return parked;
    },
    [Symbol.dispose]() {
      clearTimeout(state.timer);
      for (const look of state.lookingAgain.values()) clearTimeout(look);
    },
  };
}

type Place = { destinationId: string; tier: number; isHeld: boolean };

function gather(state: State, delivery: Delivery, place: Place): Promise<'parked' | 'full'> {
  const text = JSON.stringify(delivery);
  const bytes = Buffer.byteLength(text);
  const group = groupFor(state, place, bytes);
  group.texts.push(text);
  group.bytes += bytes;
  group.wanted = soonest(group.wanted, state.needs.wanted(place.destinationId, delivery));
  group.dueAt = Math.min(group.dueAt, delivery.dueAt);
  state.timer ??= setTimeout(() => storeAll(state), GATHER_MS);
  return group.settled.promise;
}

function groupFor(state: State, place: Place, bytes: number): Group {
  const { gathering } = state;
  const key = `${place.destinationId}.${place.tier}.${place.isHeld}`;
  const known = gathering.get(key);
  if (known !== undefined && known.texts.length < MAX_DELIVERIES && known.bytes + bytes <= MAX_BYTES) return known;
  if (known !== undefined) void store(state, known);
  const empty = { texts: [], bytes: 0, wanted: { dueAt: Infinity, hurry: false }, dueAt: Infinity };
  const group = { key, ...place, ...empty, settled: Promise.withResolvers<'parked' | 'full'>() };
  gathering.set(key, group);
  return group;
}

function soonest(one: Wanted, other: Wanted): Wanted {
  const isUrgent = one.isUrgent === true || other.isUrgent === true;
  return { dueAt: Math.min(one.dueAt, other.dueAt), hurry: one.hurry || other.hurry, isUrgent };
}

function storeAll(state: State): void {
  const { gathering, storing } = state;
  state.timer = undefined;
  for (const group of gathering.values()) if (!storing.has(group.key)) void storeInTurn(state, group);
}

/**
 * One write at a time for each place. When thousands of deliveries are handed back at once, the engine then gets a write for each
 * lane and not for each delivery.
 */
async function storeInTurn(state: State, first: Group): Promise<void> {
  const { gathering, storing } = state;
  const { key } = first;
  storing.add(key);
  for (let group: Group | undefined = first; group !== undefined; group = gathering.get(key)) {
    gathering.delete(key);
    await store(state, group);
  }
  storing.delete(key);
}

/** First the deliveries, then the ticket: the other way round, somebody could come, find nothing and leave for good. */
async function store(state: State, group: Group): Promise<void> {
  const { needs } = state;
  const { destinationId, tier, texts, bytes, wanted, settled } = group;
  const payload = encodeDeliveries(texts);
  const append = () => needs.lanes.append({ destinationId, tier }, payload);
  const answer = await whenAvailable(async () =>
    needs.isFull(destinationId, group.isHeld) ? 'full' : needs.storing(destinationId, payload.length, append),
  );
  if (answer === 'full') {
    settled.resolve('full');
    return;
  }
  needs.appended(destinationId, bytes);
  if (group.isHeld) noteParked(state, group);
  else await whenAvailable(() => ensureTicket(state, destinationId, wanted));
  settled.resolve('parked');
}

function noteParked({ byHolders }: State, { destinationId, tier, dueAt }: Group): void {
  const before = byHolders.get(destinationId) ?? { groups: new Map<number, number>(), dueAt: Infinity };
  before.groups.set(tier, (before.groups.get(tier) ?? 0) + 1);
  byHolders.set(destinationId, { groups: before.groups, dueAt: Math.min(before.dueAt, dueAt) });
}

async function ensureTicket(state: State, destinationId: string, wanted: Wanted): Promise<Ensured> {
  const { needs, lookingAgain } = state;
  const ensured = await needs.tickets.ensure(destinationId, wanted);
  if (ensured === 'held' && !lookingAgain.has(destinationId)) {
    const look = setTimeout(() => {
      lookingAgain.delete(destinationId);
      void ensureTicket(state, destinationId, wanted);
    }, LOOK_AGAIN_MS);
    lookingAgain.set(destinationId, look);
  }
  return ensured;
}

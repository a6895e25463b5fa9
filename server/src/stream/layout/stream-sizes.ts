/**
 * How much each stream and bucket may store. A stream has its replicas on some of the servers, and NATS reserves its limit on each of
 * them: so limits follow from the servers that hold the stream, never from a server that does not.
 */
import {
  AUDIT_STREAM,
  bucketStream,
  CONFIG_BUCKET,
  DEAD_STREAM,
  eventStreamIndex,
  eventStreamName,
  FLOORS_BUCKET,
  HEALTH_BUCKET,
  laneStreamIndex,
  laneStreamName,
  LAYOUT_BUCKET,
  outcomesStreamIndex,
  outcomesStreamName,
  QUARANTINE_STREAM,
  type StreamSettings,
  WORKED_BUCKET,
} from './layout.ts';
import {
  isSmall,
  levelStreams,
  type PlacedStream,
  placeNext,
  roomOfOne,
  type ServerStore,
  sum,
} from './level-streams.ts';

/** A stream that exists. `maxBytes` is its limit now, not above zero when it has none. */
export type FoundStream = { name: string; peers: readonly string[]; maxBytes: number; usedBytes: number };

export type SizesNeeds = {
  settings: Pick<StreamSettings, 'replicas' | 'eventStreams' | 'laneStreams' | 'outcomeStreams'>;
  stores: readonly ServerStore[];
  found: readonly FoundStream[];
  /** Streams that must not become smaller now. */
  kept?: ReadonlySet<string>;
};

/** Shares of a server's file store. They add up to 0.8: the rest keeps a full stream from becoming a full disk. */
const SHARE = {
  events: 0.499,
  lanes: 0.16,
  dead: 0.05,
  outcomes: 0.06,
  quarantine: 0.004,
  audit: 0.001,
  config: 0.015,
  health: 0.009,
  worked: 0.001,
};
const ALL_SHARES = sum(Object.values(SHARE));
/**
 * Room for 100,000 destinations, with settings of two kilobytes and a line of health each. A small store gives a larger part
 * of itself for that, at the expense of the events.
 */
const ENOUGH = {
  config: { bytes: 256_000_000, mostShare: 0.06 },
  health: { bytes: 64_000_000, mostShare: 0.02 },
};
/** A handful of short entries. */
const LAYOUT_BYTES = 262_144;
/**
 * A stream that gives room to others is never fuller than this afterwards: events are trimmed above it. So it gives room that it does
 * not use, and the rest as its requests become old.
 */
const FULLEST_AFTER = 0.7;
/** No stream is made with less, and none becomes smaller: NATS takes zero for no limit at all. */
export const LEAST_BYTES = 262_144;

/** Bytes by the name of the stream, also for streams that do not exist yet: zero for one that finds no room. */
export function sizeStreams({ settings, stores, found, kept }: SizesNeeds): Map<string, number> {
  const known = new Map(found.map((stream) => [stream.name, stream]));
  const leastOf = (name: string) => leastBytes(known.get(name), kept);
  const usual = roomOfOne(stores, settings.replicas);
  const sizes = new Map<string, number>();
  const onSmall = scaleOnSmall({ stores, usual, known });
  for (const [name, bytes] of singleSizes(usual)) {
    sizes.set(name, Math.max(Math.floor(bytes * onSmall(name)), leastOf(name), Math.min(bytes, LEAST_BYTES)));
  }
  const singles = [...sizes].map(([name, bytes]) => ({ peers: known.get(name)?.peers, bytes }));
  for (const { names, isOne, room } of kindsOf(settings)) {
    const asked = new Set(names);
    // Streams that are no longer asked for keep their room until they are empty, so the others do not grow into it.
    const surplus = found.filter(({ name }) => isOne(name) && !asked.has(name)).map(held);
    const others = found.filter(({ name }) => !isOne(name) && !sizes.has(name)).map(held);
    const roomOf = (server: string) => {
      const store = stores.find(({ name }) => name === server);
      if (store === undefined) return undefined;
      // A small server cannot be divided: it holds the few streams that NATS found room for.
      const whole = () => store.bytes * ALL_SHARES - takenOn(server, singles) - takenOn(server, others);
      const part = isSmall(store, usual) ? whole() : room(store.bytes, () => takenOn(server, singles));
      return part - takenOn(server, surplus);
    };
    const placed = placeAll(names, { known, stores, replicas: settings.replicas, leastOf });
    for (const [name, bytes] of levelStreams(placed, roomOf)) {
      const isEnough = known.has(name) || bytes >= LEAST_BYTES;
      sizes.set(name, isEnough ? Math.max(LEAST_BYTES, bytes) : 0);
    }
  }
  return sizes;
}

type Small = { stores: readonly ServerStore[]; usual: number; known: ReadonlyMap<string, FoundStream> };

/**
 * NATS may place more on a small server than fits, because servers learn of each other's reservations late. A server that promises more
 * than it has lets no stream of the cluster grow while it leads the cluster.
 */
function scaleOnSmall({ stores, usual, known }: Small): (single: string) => number {
  const singles = singleSizes(usual);
  const scales = stores
    .filter((store) => isSmall(store, usual))
    .map(({ name, bytes }) => {
      const here = [...singles].filter(([single]) => known.get(single)?.peers.includes(name) === true);
      const asked = sum(here.map(([, each]) => each));
      return { names: here.map(([single]) => single), scale: asked === 0 ? 1 : (bytes * ALL_SHARES) / asked };
    });
  return (single) => Math.min(1, ...scales.filter(({ names }) => names.includes(single)).map(({ scale }) => scale));
}

type Held = { peers?: readonly string[] | undefined; bytes: number };

function held({ peers, maxBytes }: FoundStream): Held {
  return { peers, bytes: Math.max(0, maxBytes) };
}

/** Streams whose place is not known yet count on every server. */
function takenOn(server: string, streams: readonly Held[]): number {
  return sum(streams.filter(({ peers }) => peers?.includes(server) ?? true).map(({ bytes }) => bytes));
}

/** The sizes on servers that are all of this size, before any stream exists. */
export function sizesOn(settings: SizesNeeds['settings'], storeBytes: number): (name: string) => number {
  const stores = Array.from({ length: settings.replicas }, (_, index) => ({ name: `${index}`, bytes: storeBytes }));
  const sizes = sizeStreams({ settings, stores, found: [] });
  return (name) => sizes.get(name) ?? 0;
}

function leastBytes(stream: FoundStream | undefined, kept: ReadonlySet<string> | undefined): number {
  if (stream === undefined || stream.maxBytes <= 0) return 0;
  if (kept?.has(stream.name) === true) return stream.maxBytes;
  return Math.min(stream.maxBytes, Math.ceil(stream.usedBytes / FULLEST_AFTER));
}

/** Streams and buckets that there is one of: it is wherever NATS has placed it, so it has a share of an ordinary server. */
function singleSizes(storeBytes: number): Map<string, number> {
  const share = (part: number) => Math.floor(storeBytes * part);
  const enough = (name: 'config' | 'health') =>
    Math.max(share(SHARE[name]), Math.min(ENOUGH[name].bytes, share(ENOUGH[name].mostShare)));
  return new Map([
    [DEAD_STREAM, share(SHARE.dead)],
    [QUARANTINE_STREAM, share(SHARE.quarantine)],
    [AUDIT_STREAM, share(SHARE.audit)],
    [bucketStream(CONFIG_BUCKET), enough('config')],
    [bucketStream(HEALTH_BUCKET), enough('health')],
    // Processes learn missing entries again, so the bucket needs no room of its own size.
    [bucketStream(WORKED_BUCKET), share(SHARE.worked)],
    [bucketStream(LAYOUT_BUCKET), LAYOUT_BYTES],
    [bucketStream(FLOORS_BUCKET), LAYOUT_BYTES],
  ]);
}

type Kind = {
  names: string[];
  isOne(name: string): boolean;
  /** How much of a server is for the streams of the kind. */
  room(storeBytes: number, singlesOnIt: () => number): number;
};

function kindsOf({ eventStreams, laneStreams, outcomeStreams }: SizesNeeds['settings']): Kind[] {
  const names = (count: number, nameOf: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => nameOf(i));
  // Lanes and outcomes have their share of every server, and events the rest of it.
  const others = SHARE.lanes + SHARE.outcomes;
  return [
    {
      names: names(eventStreams, eventStreamName),
      isOne: (name) => eventStreamIndex(name) !== undefined,
      room: (storeBytes, singlesOnIt) => storeBytes * (ALL_SHARES - others) - singlesOnIt(),
    },
    {
      names: names(laneStreams, laneStreamName),
      isOne: (name) => laneStreamIndex(name) !== undefined,
      room: (storeBytes) => storeBytes * SHARE.lanes,
    },
    {
      names: names(outcomeStreams, outcomesStreamName),
      isOne: (name) => outcomesStreamIndex(name) !== undefined,
      room: (storeBytes) => storeBytes * SHARE.outcomes,
    },
  ];
}

type Placing = Pick<SizesNeeds, 'stores'> & {
  known: ReadonlyMap<string, FoundStream>;
  replicas: number;
  leastOf(name: string): number;
};

function placeAll(names: readonly string[], { known, stores, replicas, leastOf }: Placing): PlacedStream[] {
  const placed = [...known.values()].map(({ peers }) => peers);
  return names.map((name) => {
    const found = known.get(name)?.peers;
    if (found !== undefined) return { name, peers: found, least: leastOf(name) };
    const peers = placeNext(stores, replicas, placed);
    placed.push(peers);
    return { name, peers, least: 0 };
  });
}

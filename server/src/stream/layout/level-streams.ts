/**
 * How much streams may store when each of them is on some of the servers only. Every stream of a kind rises at the same pace, until a
 * server has no more room: then the streams on it stay, and the others rise on (max-min fairness). So no server promises more than it
 * has, and a small server limits only the streams that it holds.
 */

export type ServerStore = { name: string; bytes: number };
/** `peers`: the servers that hold the stream. `least`: the stream is not made smaller than this. */
export type PlacedStream = { name: string; peers: readonly string[]; least: number };

/**
 * How much servers can store together when each byte is on so many different ones. A server that is larger than the others is used as far
 * as those can hold the other replicas: with the c largest servers set aside, the rest has to hold the remaining replicas of all.
 */
export function usableBytes(stores: readonly ServerStore[], replicas: number): number {
  const sorted = sortByRoom(stores).map(({ bytes }) => bytes);
  const limits = Array.from({ length: replicas }, (_, aside) => sum(sorted.slice(aside)) / (replicas - aside));
  return Math.floor(Math.min(...limits));
}

/** The size of the smallest of the largest servers that one stream needs. */
export function roomOfOne(stores: readonly ServerStore[], replicas: number): number {
  return sortByRoom(stores)[Math.min(replicas, stores.length) - 1]?.bytes ?? 0;
}

/** Of less than half the usual size. */
export function isSmall({ bytes }: ServerStore, usual: number): boolean {
  return bytes < usual / 2;
}

/** The bytes of each stream, by name. Servers that `roomOf` does not know limit nothing. */
export function levelStreams(
  streams: readonly PlacedStream[],
  roomOf: (server: string) => number | undefined,
): Map<string, number> {
  const bytes = new Map<string, number>();
  const servers = [...new Set(streams.flatMap(({ peers }) => peers))];
  const levelOn = (server: string) => {
    const here = streams.filter(({ peers }) => peers.includes(server));
    const rising = here.filter(({ name }) => !bytes.has(name)).map(({ least }) => least);
    const taken = sum(here.map(({ name }) => bytes.get(name) ?? 0));
    return { server, level: rising.length === 0 ? Infinity : levelOf((roomOf(server) ?? Infinity) - taken, rising) };
  };
  while (bytes.size < streams.length) {
    const tightest = servers.map(levelOn).reduce((one, other) => (other.level < one.level ? other : one), {
      server: '',
      level: Infinity,
    });
    const isLimited = tightest.level < Infinity;
    for (const { name, peers, least } of streams) {
      if (bytes.has(name) || (isLimited && !peers.includes(tightest.server))) continue;
      bytes.set(name, isLimited ? Math.floor(Math.max(least, tightest.level)) : least);
    }
  }
  return bytes;
}

/** The level that uses up the room when streams below it rise to it, and those above it stay where they are. */
function levelOf(room: number, leasts: readonly number[]): number {
  const sorted = leasts.toSorted((one, other) => one - other);
  let level = 0;
  for (let rising = 1; rising <= sorted.length; rising += 1) {
    level = (room - sum(sorted.slice(rising))) / rising;
    if (level <= (sorted[rising] ?? Infinity)) break;
  }
  return Math.max(0, level);
}

/**
 * Where NATS is expected to place a new stream: on the servers that hold the fewest. NATS finds no room for an ordinary stream on a small
 * one.
 */
export function placeNext(
  stores: readonly ServerStore[],
  replicas: number,
  placed: readonly (readonly string[])[],
): string[] {
  const usual = roomOfOne(stores, replicas);
  const held = (server: string) => placed.filter((peers) => peers.includes(server)).length;
  return sortByRoom(stores)
    .filter((store) => !isSmall(store, usual))
    .map(({ name }) => ({ name, held: held(name) }))
    .toSorted((one, other) => one.held - other.held)
    .slice(0, replicas)
    .map(({ name }) => name);
}

function sortByRoom(stores: readonly ServerStore[]): ServerStore[] {
  return stores.toSorted((one, other) => other.bytes - one.bytes || (one.name < other.name ? -1 : 1));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

/**
 * How many event streams there should be. As many servers as replicas: the number of the settings. A stream is never moved, so a server
 * more is used by streams that are made after it came. NATS places them on the servers that hold the fewest, and the smallest number is
 * taken that uses most of the room. Requests are spread evenly over the streams, so the smallest stream counts, times their number.
 */
import { levelStreams, placeNext, type ServerStore } from './level-streams.ts';

export type CountNeeds = {
  stores: readonly ServerStore[];
  replicas: number;
  /** The number of the settings. */
  least: number;
  /** The servers of each event stream that exists. */
  placed: readonly (readonly string[])[];
};

/** The accounts in deploy/nats are for so many; more than these only if the settings ask for them. */
export const MOST_BY_ITSELF = 16;
/** More streams have to give at least this much more room, and the first number is taken that gives most of it. */
const WORTH_IT = 1.1;
const MOST_OF_IT = 0.9;

export function wantedEventStreams({ stores, replicas, least, placed }: CountNeeds): number {
  const start = Math.max(least, placed.length);
  if (stores.length <= replicas) return start;
  const all = [...placed];
  const rooms: number[] = [];
  for (let count = start; count <= Math.max(start, MOST_BY_ITSELF); count += 1) {
    while (all.length < count) all.push(placeNext(stores, replicas, all));
    rooms.push(evenRoom(all, stores));
  }
  const best = Math.max(...rooms);
  if (best < (rooms[0] ?? 0) * WORTH_IT) return start;
  return start + rooms.findIndex((room) => room >= best * MOST_OF_IT);
}

function evenRoom(placed: readonly (readonly string[])[], stores: readonly ServerStore[]): number {
  const roomOf = new Map(stores.map(({ name, bytes }) => [name, bytes]));
  const streams = placed.map((peers, index) => ({ name: String(index), peers, least: 0 }));
  return Math.min(...levelStreams(streams, (server) => roomOf.get(server)).values()) * streams.length;
}

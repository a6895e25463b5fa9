/**
 * The lanes in NATS: a lane is a destination's waiting deliveries, on a subject for each tier, in one of the lane streams. A group
 * of deliveries is stored (`append`), read by the holder of the lane's ticket, and dropped when it is done; it can be removed
 * (an erased user) or set aside (unreadable) before. Only the holder drops and removes.
 */
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { nuid } from '@nats-io/nats-core';
import { FORMAT_HEADER, formatHeader } from '../../domain/format.ts';
import { isLed } from '../leaders/ask-leader.ts';
import { type LaneCounts, lanesIn } from '../nats/lane-counts.ts';
import { hashOf, homesOf, type TierPlace, tierNumber, tierPlace } from '../layout/lane-places.ts';
import { laneStreamName, laneSubject } from '../layout/layout.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import { readNext, readReplica, removeAt, type SubjectPlace } from '../nats/read-subject.ts';

/** Deliveries of one destination and tier that were parked together. */
export type LaneGroup = {
  sequence: number;
  parkedAt: number;
  payload: Uint8Array;
  /** The version of its format; empty when it carries none. */
  format: string;
};
/** The unreadable part of a group: all of it, or one delivery written as a group of its own. */
export type LanePoison = Pick<LaneGroup, 'sequence' | 'payload' | 'format'> & { why: string };
export type LanePlace = { destinationId: string; tier: number };

export type Lanes = {
  /**
   * Resolves with the answer of NATS. `full`: the stream has no room. After `unavailable` the group may be stored: a caller that
   * repeats it gives the same `id`, so that it is stored once.
   */
  append(place: LanePlace, payload: Uint8Array, id?: string): Promise<'stored' | 'full' | 'unavailable'>;
  /** Groups from a sequence on, oldest first. An empty list proves nothing: a replica that lags may have answered. */
  read(place: LanePlace, from: number, most: number): Promise<LaneGroup[]>;
  /** How many groups wait in each tier, by the leader's answer; tiers in a former home have their own numbers. */
  count(destinationId: string): Promise<Map<number, number>>;
  /** The highest sequence that the lane's stream ever gave. */
  lastSequence(place: LanePlace): Promise<number>;
  /** Forgets the groups of a tier up to and including a sequence. */
  drop(place: LanePlace, upTo: number): Promise<void>;
  /** Forgets one group. */
  forget(place: LanePlace, sequence: number): Promise<void>;
  /** Forgets one group, and overwrites it on the disk. */
  remove(place: LanePlace, sequence: number): Promise<void>;
  /** Counts and logs that a group of a newer format was left. */
  left(why: string): void;
  /** Keeps a copy in quarantine. */
  setAside(place: LanePlace, poison: LanePoison): ReturnType<Quarantine['append']>;
  /** Every destination that has something waiting. */
  list(): Promise<Set<string>>;
  /** The stream that new deliveries of a lane are stored in. */
  streamOf(destinationId: string): string;
  /** All lane streams. */
  streams(): string[];
  /** The number of the lane's home stream; lane-places.ts has what that means for tiers. */
  home(destinationId: string): number;
  /** Whether the lane can only be in its home. */
  isOnlyHome(destinationId: string): boolean;
};

export type LanesNeeds = DurableNeeds & {
  manager: JetStreamManager;
  /** How many lane streams the settings ask for. */
  count: number;
  /** The numbers that other processes use or used; by default there are none. */
  counts?: Pick<LaneCounts, 'all' | 'toStoreBy'>;
  quarantine: Quarantine;
};

/** For the duplicate window of NATS. */
export function newGroupId(): string {
  return nuid.next();
}

export function openLanes({ manager, count, counts, quarantine, ...needs }: LanesNeeds): Lanes {
  const { all, toStoreBy } = counts ?? { all: () => [count], toStoreBy: () => count };
  const home = (destinationId: string) => hashOf(destinationId) % count;
  const placesOf = (destinationId: string) => homesOf(destinationId, all());
  const storeIn = ({ destinationId, tier }: LanePlace) =>
    tier === tierPlace(tier, 0).tier ? hashOf(destinationId) % toStoreBy() : tierPlace(tier, 0).stream;
  const indexes = () => Array.from({ length: Math.max(...all()) }, (_, index) => index);
  /** Where a tier is read. */
  const placeOf = ({ destinationId, tier: number }: LanePlace) => {
    const { stream, tier } = tierPlace(number, home(destinationId));
    return { stream: laneStreamName(stream), subject: laneSubject(stream, destinationId, tier) };
  };
  return {
    async append(place, payload, id = newGroupId()) {
      const subject = laneSubject(storeIn(place), place.destinationId, tierPlace(place.tier, 0).tier);
      const publication = { subject, id, headers: [formatHeader('lane')], payload };
      return keptOrNot(await publishDurably(publication, needs));
    },
    read: (place, from, most) => readGroups(manager, { ...placeOf(place), from }, most),
    async count(destinationId) {
      const found = await Promise.all(placesOf(destinationId).map((stream) => countIn(manager, stream, destinationId)));
      return new Map(found.flat().map(([place, groups]) => [tierNumber(place, home(destinationId)), groups]));
    },
    lastSequence: async (place) => (await manager.streams.info(placeOf(place).stream)).state.last_seq,
    async drop(place, upTo) {
      const { stream, subject } = placeOf(place);
      await manager.streams.purge(stream, { filter: subject, seq: upTo + 1 });
    },
    forget: (place, sequence) => removeAt(manager, { stream: placeOf(place).stream, seq: sequence, isErased: false }),
    remove: (place, sequence) => removeAt(manager, { stream: placeOf(place).stream, seq: sequence, isErased: true }),
    left: (why) => quarantine.left('lane', why),
    setAside: (place, poison) => setAside(quarantine, placeOf(place), poison),
    list: () => lanesInAll(manager, indexes()),
    streamOf: (destinationId) => laneStreamName(hashOf(destinationId) % toStoreBy()),
    streams: () => indexes().map(laneStreamName),
    home,
    isOnlyHome: (destinationId) => placesOf(destinationId).length === 1,
  };
}

async function readGroups(manager: JetStreamManager, start: SubjectPlace, most: number): Promise<LaneGroup[]> {
  const { from } = start;
  // A replica that lags still shows dropped groups, which a new holder would believe: it asks the leader for the first one.
  const head = from > 1 ? undefined : await readNext(manager, start);
  if (from <= 1 && head === undefined) return [];
  const isAll = head !== undefined && most === 1;
  const found = isAll ? [head] : await readReplica(manager, { ...start, from: head?.seq ?? from }, most);
  return found.map(toGroup);
}

type Place = { stream: string; subject: string };

function setAside(quarantine: Quarantine, place: Place, { sequence, payload, format, why }: LanePoison) {
  const headers = format === '' ? [] : [[FORMAT_HEADER, format] as const];
  return quarantine.append({ kind: 'lane', payload, from: { ...place, sequence }, why, headers });
}

function toGroup({ seq, time, data, header }: StoredMsg): LaneGroup {
  return { sequence: seq, parkedAt: time.getTime(), payload: data, format: header.get(FORMAT_HEADER) };
}

async function lanesInAll(manager: JetStreamManager, indexes: readonly number[]): Promise<Set<string>> {
  const found = await Promise.all(indexes.map((index) => lanesIn(manager, index)));
  return new Set(found.flatMap((lanes) => [...lanes]));
}

async function countIn(
  manager: JetStreamManager,
  stream: number,
  destinationId: string,
): Promise<(readonly [TierPlace, number])[]> {
  const options = { subjects_filter: laneSubject(stream, destinationId, '*') };
  const info = await manager.streams.info(laneStreamName(stream), options);
  // One that was cut off does not see what others have parked since: its word would end the ticket of a lane that is not empty.
  if (!isLed(info)) throw new Error(`the leader of ${laneStreamName(stream)} has no majority`);
  const subjects = Object.entries(info.state.subjects ?? {});
  return subjects.map(([subject, groups]) => [{ stream, tier: tierOf(subject) }, groups]);
}

function tierOf(subject: string): number {
  return Number(subject.split('.')[3]);
}

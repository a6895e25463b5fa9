import type { JetStreamManager } from '@nats-io/jetstream';
import { nuid } from '@nats-io/nats-core';
import { laneStreamName, laneSubject } from './layout.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from './publish-durably.ts';
import { readNext, readReplica, removeAt } from './read-subject.ts';
import { whenSettled } from './when-settled.ts';

/** Deliveries of one destination and tier that were parked together. */
export type LaneGroup = { sequence: number; parkedAt: number; payload: Uint8Array };
export type LanePlace = { destinationId: string; tier: number };

export type Lanes = {
  /** Resolves with the engine's word. `full` is this lane's quota, or the whole store. */
  append(place: LanePlace, payload: Uint8Array): Promise<'stored' | 'full' | 'unavailable'>;
  /** Groups from a sequence on, oldest first. An empty list proves nothing: a replica that lags may have answered. */
  read(place: LanePlace, from: number, most: number): Promise<LaneGroup[]>;
  /** How many groups wait in each tier, by the leader's word. */
  count(destinationId: string): Promise<Map<number, number>>;
  /** The highest sequence that the lane's stream ever gave. */
  lastSequence(destinationId: string): Promise<number>;
  /** Forgets the groups of a tier up to and including a sequence. */
  drop(place: LanePlace, upTo: number): Promise<void>;
  /** Forgets one group, and overwrites it on the disk. */
  remove(place: LanePlace, sequence: number): Promise<void>;
  /** Forgets a whole lane. */
  clear(destinationId: string): Promise<void>;
  /** Every destination that has something waiting. */
  list(): Promise<Set<string>>;
  /** The most one lane may hold, so that it cannot take the room of the others. */
  quotaBytes(): Promise<number>;
};

export type LanesNeeds = DurableNeeds & { manager: JetStreamManager; count: number };

/** The part of its stream that one lane may fill. */
const QUOTA_SHARE = 0.25;

export function openLanes({ manager, count, ...needs }: LanesNeeds): Lanes {
  const indexOf = (destinationId: string) => hashOf(destinationId) % count;
  const streamOf = (destinationId: string) => laneStreamName(indexOf(destinationId));
  const subjectOf = ({ destinationId, tier }: LanePlace) => laneSubject(indexOf(destinationId), destinationId, tier);
  const wholeLane = (destinationId: string) => laneSubject(indexOf(destinationId), destinationId, '*');
  return {
    async append(place, payload) {
      return keptOrNot(await publishDurably({ subject: subjectOf(place), id: nuid.next(), payload }, needs));
    },
    async read(place, from, most) {
      const start = { stream: streamOf(place.destinationId), subject: subjectOf(place), from };
      // A replica that lags still shows what has been dropped, and who starts anew would believe it: they ask the leader.
      const head = from > 1 ? undefined : await readNext(manager, start);
      if (from <= 1 && head === undefined) return [];
      const isAll = head !== undefined && most === 1;
      const found = isAll ? [head] : await readReplica(manager, { ...start, from: head?.seq ?? from }, most);
      return found.map(({ seq, time, data }) => ({ sequence: seq, parkedAt: time.getTime(), payload: data }));
    },
    async count(destinationId) {
      const options = { subjects_filter: wholeLane(destinationId) };
      const { state } = await manager.streams.info(streamOf(destinationId), options);
      const subjects = Object.entries(state.subjects ?? {});
      return new Map(subjects.map(([subject, groups]) => [tierOf(subject), groups]));
    },
    lastSequence: async (destinationId) => (await manager.streams.info(streamOf(destinationId))).state.last_seq,
    async drop(place, upTo) {
      await manager.streams.purge(streamOf(place.destinationId), { filter: subjectOf(place), seq: upTo + 1 });
    },
    remove: (place, sequence) =>
      removeAt(manager, { stream: streamOf(place.destinationId), seq: sequence, isErased: true }),
    async clear(destinationId) {
      await manager.streams.purge(streamOf(destinationId), { filter: wholeLane(destinationId) });
    },
    list: () => listLanes(manager, count),
    async quotaBytes() {
      const { config } = await whenSettled(() => manager.streams.info(laneStreamName(0)));
      return Math.floor(config.max_bytes * QUOTA_SHARE);
    },
  };
}

async function listLanes(manager: JetStreamManager, count: number): Promise<Set<string>> {
  const found = new Set<string>();
  for (let index = 0; index < count; index += 1) {
    const { state } = await manager.streams.info(laneStreamName(index), { subjects_filter: '>' });
    for (const subject of Object.keys(state.subjects ?? {})) found.add(subject.split('.')[2] ?? '');
  }
  return found;
}

function tierOf(subject: string): number {
  return Number(subject.split('.')[3]);
}

/** Which lane stream a destination belongs to must be the same in every process, so no seeds: FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/**
 * Brings the streams to the servers that there are now, while everything runs. Changes sizes, makes event streams, and nothing else: the
 * other properties of streams are decided at a start, perhaps by a newer version. Every step can be repeated, and two processes that do it
 * at once come to the same result.
 */
import type { KV } from '@nats-io/kv';
import { JetStreamApiCodes, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { askServers, ourServers, serverProblem, storesOf } from './assert-servers.ts';
import { announceEventCount, readEventCount } from './event-count.ts';
import { wantedEventStreams } from '../layout/count-streams.ts';
import {
  eventStreamIndex,
  eventStreamName,
  laneStreamIndex,
  layout,
  type Layout,
  outcomesStreamIndex,
  type StreamSettings,
} from '../layout/layout.ts';
import { sizeStreams } from '../layout/stream-sizes.ts';
import { surplusSubject } from '../layout/surplus-streams.ts';
import { undefinedIfMissing } from '../nats/engine-errors.ts';
import { openPacer } from './pace-placing.ts';
import { isOtherSize, resizeStream } from './resize-stream.ts';
import { type Survey, type SurveyedStream, surveyStreams } from './survey.ts';

export type GrowNeeds = {
  nc: NatsConnection;
  manager: JetStreamManager;
  bucket: KV;
  settings: StreamSettings;
  /** Streams that must not become smaller now. */
  kept: ReadonlySet<string>;
  /** Streams that had lost their subjects at the look before. */
  bare: ReadonlySet<string>;
};

export type Resized = { name: string; from: number; to: number };
export type Growth = {
  survey: Survey;
  eventStreams: number;
  made: string[];
  resized: Resized[];
  /** Streams that NATS did not let grow. */
  refused: string[];
  /** Streams that have lost their subjects since the look before. */
  bare: ReadonlySet<string>;
};
/** `why`: nothing can be decided now. */
export type GrowOutcome = ({ ok: true } & Growth) | { ok: false; why: string };

export async function growLayout(needs: GrowNeeds): Promise<GrowOutcome> {
  const { nc, manager, bucket, settings } = needs;
  const reports = await askServers(nc);
  const unfit = ourServers(reports, nc).find((report) => serverProblem(report) !== undefined);
  if (unfit !== undefined) return { ok: false, why: `NATS server ${unfit.server.name} ${serverProblem(unfit)}` };
  const survey = await surveyStreams(manager, storesOf(reports, nc));
  if (!survey.isWhole || survey.stores.length < settings.replicas) {
    return { ok: false, why: 'not all servers that hold streams answer' };
  }
  const { announced, revision } = await readEventCount(bucket);
  const wanted = countOf(settings, survey, announced?.streams ?? 0);
  const plan = planOf({ ...settings, ...countsIn(survey), eventStreams: wanted }, survey, needs.kept);
  const { resized, refused } = await resizeAll(manager, plan, survey);
  const bare = newlyBare(survey, needs.bare);
  const made = await makeAll(needs, plan, { survey, bare });
  const before = announced?.streams ?? 0;
  // Also without new streams: a process may have died between a stream and its consumers.
  const eventStreams = await countUsable(manager, plan.layout, bare);
  if (eventStreams > before && eventStreams >= settings.eventStreams) {
    await announceEventCount(bucket, { streams: eventStreams, asked: settings.eventStreams }, revision);
  }
  return { ok: true, survey, eventStreams: Math.max(before, eventStreams), made, resized, refused, bare };
}

function countOf({ replicas, eventStreams }: StreamSettings, { stores, streams }: Survey, announced: number): number {
  const least = Math.max(eventStreams, announced);
  const placed = streams.filter(({ name }) => (eventStreamIndex(name) ?? least) < least).map(({ peers }) => peers);
  return wantedEventStreams({ stores, replicas, least, placed });
}

/** Another process may be set to other numbers of lane and outcome streams: here they are those that exist. */
function countsIn({ streams }: Survey): Pick<StreamSettings, 'laneStreams' | 'outcomeStreams'> {
  const count = (indexOf: (name: string) => number | undefined) =>
    Math.max(0, ...streams.map(({ name }) => 1 + (indexOf(name) ?? -1)));
  return { laneStreams: count(laneStreamIndex), outcomeStreams: count(outcomesStreamIndex) };
}

type SizedPlan = { layout: Layout; sizes: ReadonlyMap<string, number> };

function planOf(settings: StreamSettings, { stores, streams }: Survey, kept: ReadonlySet<string>): SizedPlan {
  const sizes = sizeStreams({ settings, stores, found: streams, kept });
  return { layout: layout(settings, (name) => sizes.get(name) ?? 0), sizes };
}

/**
 * Smaller first: NATS reserves the limits. While an event stream is missing none grows: its place, and so the room of the others, is known
 * when NATS has chosen it. Other kinds are made at a start only, and may have gaps: a start deletes those surplus streams that are empty.
 */
async function resizeAll(
  manager: JetStreamManager,
  { layout, sizes }: SizedPlan,
  survey: Survey,
): Promise<Pick<Growth, 'resized' | 'refused'>> {
  const known = new Set(survey.streams.map(({ name }) => name));
  const isAwaited = (name: string) => eventStreamIndex(name) !== undefined && (sizes.get(name) ?? 0) > 0;
  const mayGrow = layout.streams.every(({ name }) => known.has(name) || !isAwaited(name));
  const changes = survey.streams
    .map((stream) => ({ stream, to: sizes.get(stream.name) ?? 0 }))
    .filter(({ stream, to }) => stream.maxBytes > 0 && to > 0 && isOtherSize(stream.maxBytes, to))
    .filter(({ stream, to }) => mayGrow || to < stream.maxBytes)
    .toSorted((one, other) => one.to - one.stream.maxBytes - (other.to - other.stream.maxBytes));
  const resized: Resized[] = [];
  for (const { stream, to } of changes) {
    const { name, maxBytes: from } = stream;
    resized.push({ name, from, to: await resizeStream(manager, stream, to) });
  }
  const [done, refused] = [
    resized.filter(({ from, to }) => from !== to),
    resized.filter(({ from, to }) => from === to),
  ];
  return { resized: done, refused: refused.map(({ name }) => name) };
}

/**
 * A start takes the subjects of a surplus stream, counts its messages and deletes it. Subjects that are given back in between would let
 * requests into a stream that is about to be deleted: one that lost them since the look before is left alone until the next look.
 */
function newlyBare({ streams }: Survey, before: ReadonlySet<string>): Set<string> {
  const bare = streams.filter(({ name, subjects }) => subjects.join() === surplusSubject(name));
  return new Set(bare.map(({ name }) => name).filter((name) => !before.has(name)));
}

type Found = { survey: Survey; bare: ReadonlySet<string> };

/** Event streams that are missing and find room, and subjects that a start of an earlier version took from streams it does not know. */
async function makeAll({ nc, manager }: GrowNeeds, { layout, sizes }: SizedPlan, at: Found): Promise<string[]> {
  const { survey, bare } = at;
  const pace = openPacer(nc);
  const known = new Map<string, SurveyedStream>(survey.streams.map((stream) => [stream.name, stream]));
  const made: string[] = [];
  for (const stream of layout.streams.filter(({ name }) => eventStreamIndex(name) !== undefined)) {
    const found = known.get(stream.name);
    if (found === undefined && (sizes.get(stream.name) ?? 0) === 0) break;
    if (found === undefined) {
      await pace(stream.max_bytes);
      await manager.streams.add(stream);
      await makeConsumers(manager, layout, stream.name);
      made.push(stream.name);
    } else if (found.subjects.join() !== stream.subjects.join() && !bare.has(stream.name)) {
      await manager.streams.update(stream.name, { subjects: stream.subjects });
    }
  }
  return made;
}

/** The number of event streams without a gap, each with its consumers and its subjects. */
async function countUsable(manager: JetStreamManager, layout: Layout, bare: ReadonlySet<string>): Promise<number> {
  const names = new Set(await Array.fromAsync(manager.streams.names()));
  const planned = layout.streams.filter(({ name }) => eventStreamIndex(name) !== undefined).length;
  for (let index = 0; index < planned; index += 1) {
    const name = eventStreamName(index);
    if (!names.has(name) || bare.has(name)) return index;
    await makeConsumers(manager, layout, name);
  }
  return planned;
}

async function makeConsumers(manager: JetStreamManager, { consumers }: Layout, name: string): Promise<void> {
  const missing = undefinedIfMissing(JetStreamApiCodes.ConsumerNotFound);
  for (const { stream, config } of consumers.filter((consumer) => consumer.stream === name)) {
    const found = await manager.consumers.info(stream, config.durable_name).catch(missing);
    if (found === undefined) await manager.consumers.add(stream, config);
  }
}

import { JetStreamApiCodes, type JetStreamManager, jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { assertServers, type ServersFound } from './assert-servers.ts';
import { brokenPromise, consumerProblem, differs, planFor } from '../layout/compare-plan.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { undefinedIfMissing } from '../nats/engine-errors.ts';
import { announceEventCount, type EventCount, readEventCount } from './event-count.ts';
import { wantedEventStreams } from '../layout/count-streams.ts';
import {
  bucketStream,
  type BucketPlan,
  type ConsumerPlan,
  eventStreamIndex,
  eventStreamName,
  layout,
  type Layout,
  LAYOUT_BUCKET,
  type StreamPlan,
  type StreamSettings,
} from '../layout/layout.ts';
import { LEAST_BYTES, sizesOn, sizeStreams } from '../layout/stream-sizes.ts';
import { openLayoutBucket, settleLaneCounts } from '../nats/lane-counts.ts';
import { openPacer } from './pace-placing.ts';
import { isOtherSize, resizeStream } from './resize-stream.ts';
import { type Survey, surveyStreams } from './survey.ts';
import { deleteEmptySurplus } from '../layout/surplus-streams.ts';
import { whenSettled } from '../nats/when-settled.ts';

/** Makes missing streams and buckets, updates the others to the settings, and throws for a promise that cannot be kept. */
export async function ensureLayout(connection: Connection, settings: StreamSettings): Promise<void> {
  const manager = await whenSettled(() => jetstreamManager(connection.nc, { timeout: 2_000 }));
  const isThere = (await whenSettled(() => findStream(manager, eventStreamName(0)))) !== undefined;
  const servers = await assertServers(connection.nc, { replicas: settings.replicas, isThere });
  const needs = { connection, manager, servers };
  const [layoutBucket] = layout(settings, sizesOn(settings, 0)).buckets.filter(({ name }) => name === LAYOUT_BUCKET);
  if (layoutBucket !== undefined) await whenSettled(() => makeBucket(connection, layoutBucket, settings.replicas));
  const bucket = await openLayoutBucket(connection);
  const { laneStreams, outcomeStreams } = settings;
  const laneCounts = await whenSettled(() =>
    settleLaneCounts(bucket, manager, { count: laneStreams, now: Date.now() }),
  );
  const { announced } = await whenSettled(() => readEventCount(bucket));
  const before = await whenSettled(() => surveyStreams(manager, servers.stores));
  const eventStreams = firstCount(settings, before, announced);
  const inUse = { eventStreams, laneStreams: Math.max(laneStreams, ...laneCounts), outcomeStreams };
  const announce = (streams: number) => announceOurs(bucket, { streams, asked: settings.eventStreams });
  // Processes leave streams before they are deleted, and use them after they are made.
  if (eventStreams < (announced?.streams ?? 0)) await announce(eventStreams);
  await whenSettled(() => deleteEmptySurplus(manager, inUse));
  await announce(await bringToPlan({ ...settings, eventStreams }, settings.eventStreams, needs));
}

/** If another process that starts now was faster, its number stays, and the keeper of the layout looks at it again. */
async function announceOurs(bucket: KV, ours: EventCount): Promise<void> {
  const { announced, revision } = await whenSettled(() => readEventCount(bucket));
  if (ours.streams === announced?.streams && ours.asked === announced.asked) return;
  await announceEventCount(bucket, ours, revision).catch(() => undefined);
}

/**
 * Fewer than before only if the setting became smaller: servers that are away, or were taken away, are no reason to leave streams
 * behind that hold requests.
 */
function firstCount(settings: StreamSettings, { stores, streams, isWhole }: Survey, announced?: EventCount): number {
  const { replicas, eventStreams } = settings;
  const least = announced !== undefined && announced.asked <= eventStreams ? announced.streams : 0;
  const count = Math.max(eventStreams, least);
  if (!isWhole) return count;
  const placed = streams.filter(({ name }) => (eventStreamIndex(name) ?? count) < count).map(({ peers }) => peers);
  return wantedEventStreams({ stores, replicas, least: count, placed });
}

type PlanNeeds = { connection: Connection; manager: JetStreamManager; servers: ServersFound };

/**
 * Resolves with the number of event streams that exist then. The settings' own number always does; of the others, those that find room.
 * The second round is for streams that the first one made: only now it is known which servers hold them.
 */
async function bringToPlan(settings: StreamSettings, least: number, needs: PlanNeeds): Promise<number> {
  const { manager, servers } = needs;
  let plan: Layout | undefined;
  let count = settings.eventStreams;
  const pace = openPacer(needs.connection.nc);
  for (let round = 0; round < 2; round += 1) {
    const survey = await whenSettled(() => surveyStreams(manager, servers.stores));
    const mayResize = servers.isComplete && survey.isWhole;
    const known = new Map(survey.streams.map((stream) => [stream.name, stream]));
    const sizes = sizeStreams({ settings, stores: servers.stores, found: survey.streams });
    count = countWithRoom(settings.eventStreams, least, (name) => (sizes.get(name) ?? 0) > 0);
    plan = layout({ ...settings, eventStreams: count }, (name) => sizes.get(name) || LEAST_BYTES);
    const growth = ({ name, max_bytes: bytes }: StreamPlan) => bytes - (known.get(name)?.maxBytes ?? bytes);
    const makes = async (name: string, bytes: number) => (known.has(name) ? undefined : pace(bytes));
    for (const bucket of plan.buckets) {
      await makes(bucketStream(bucket.name), bucket.maxBytes);
      await whenSettled(() => ensureBucket(needs, bucket, { ...settings, mayResize }));
    }
    // NATS reserves the limits: streams that become smaller make room for those that are made or grow.
    for (const stream of plan.streams.toSorted((one, other) => growth(one) - growth(other))) {
      await makes(stream.name, stream.max_bytes);
      await whenSettled(() => ensureStream(manager, stream, mayResize));
    }
    if (plan.streams.every(({ name }) => known.has(name))) break;
  }
  for (const consumer of plan?.consumers ?? []) await whenSettled(() => ensureConsumer(manager, consumer));
  return count;
}

function countWithRoom(count: number, least: number, hasRoom: (name: string) => boolean): number {
  for (let index = least; index < count; index += 1) if (!hasRoom(eventStreamName(index))) return index;
  return count;
}

/**
 * Without all servers no size is changed: it would be that of the servers that happened to answer. Other settings that a new
 * version expects are changed all the same.
 */
async function ensureStream(manager: JetStreamManager, wanted: StreamPlan, mayResize: boolean): Promise<void> {
  const found = await findStream(manager, wanted.name);
  if (found === undefined) {
    await manager.streams.add(wanted);
    return;
  }
  const broken = brokenPromise(found, wanted);
  if (broken !== undefined) throw new Error(`stream ${wanted.name} ${broken}`);
  const plan = planFor(found, wanted, mayResize);
  if (differs(found, plan)) await manager.streams.update(plan.name, plan);
  await bringToSize(manager, { found, mayResize }, wanted.max_bytes);
}

async function bringToSize(
  manager: JetStreamManager,
  { found, mayResize }: { found: StreamConfig; mayResize: boolean },
  bytes: number,
): Promise<void> {
  const { name, max_bytes: maxBytes } = found;
  if (mayResize && isOtherSize(maxBytes, bytes)) await resizeStream(manager, { name, maxBytes }, bytes);
}

async function ensureConsumer(manager: JetStreamManager, plan: ConsumerPlan): Promise<void> {
  const { stream, config } = plan;
  const name = config.durable_name;
  const missing = undefinedIfMissing(JetStreamApiCodes.ConsumerNotFound);
  const found = await manager.consumers.info(stream, name).catch(missing);
  if (found === undefined) {
    await manager.consumers.add(stream, config);
    return;
  }
  const problem = consumerProblem(found.config, plan);
  if (problem !== undefined) throw new Error(`consumer ${name} of stream ${stream} ${problem}`);
  if (differs(found.config, config)) await manager.consumers.update(stream, name, config);
}

type BucketSize = { replicas: number; mayResize: boolean };

/** The library leaves a bucket that exists as it is, so its stream is brought to the settings beside it. */
async function ensureBucket(
  { connection, manager }: PlanNeeds,
  plan: BucketPlan,
  { replicas, mayResize }: BucketSize,
): Promise<void> {
  await makeBucket(connection, plan, replicas);
  const found = await findStream(manager, bucketStream(plan.name));
  if (found === undefined) return;
  const wanted = { num_replicas: Math.max(found.num_replicas, replicas) };
  if (mayResize && differs(found, wanted)) await manager.streams.update(found.name, wanted);
  await bringToSize(manager, { found, mayResize }, plan.maxBytes);
}

async function makeBucket(
  { nc }: Connection,
  { name, maxBytes, ttlMs = 0 }: BucketPlan,
  replicas: number,
): Promise<void> {
  await new Kvm(nc).create(name, { history: 1, replicas, max_bytes: maxBytes, ttl: ttlMs });
}

async function findStream(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  const found = await manager.streams.info(name).catch(undefinedIfMissing(JetStreamApiCodes.StreamNotFound));
  return found?.config;
}

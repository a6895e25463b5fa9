import { JetStreamApiCodes, type JetStreamManager, jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { assertServers } from './assert-servers.ts';
import { brokenPromise, consumerProblem, differs, planFor } from '../layout/compare-plan.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { undefinedIfMissing } from '../nats/engine-errors.ts';
import {
  bucketStream,
  type BucketPlan,
  type ConsumerPlan,
  eventStreamName,
  layout,
  LAYOUT_BUCKET,
  type StreamPlan,
  type StreamSettings,
} from '../layout/layout.ts';
import { openLayoutBucket, settleLaneCounts } from '../nats/lane-counts.ts';
import { streamsFound } from '../nats/list-streams.ts';
import { deleteEmptySurplus } from '../layout/surplus-streams.ts';
import { whenSettled } from '../nats/when-settled.ts';

/** Makes missing streams and buckets, updates the others to the settings, and throws for a promise that cannot be kept. */
export async function ensureLayout(connection: Connection, settings: StreamSettings): Promise<void> {
  const manager = await whenSettled(() => jetstreamManager(connection.nc, { timeout: 2_000 }));
  const isThere = (await whenSettled(() => findStream(manager, eventStreamName(0)))) !== undefined;
  const servers = await assertServers(connection.nc, { replicas: settings.replicas, isThere });
  const size = { replicas: settings.replicas, mayResize: servers.isComplete };
  const { eventStreams, laneStreams } = settings;
  const bucketPlans = layout(settings, servers.storeBytes).buckets;
  const layoutPlan = bucketPlans.filter(({ name }) => name === LAYOUT_BUCKET);
  for (const bucket of layoutPlan) await whenSettled(() => ensureBucket(connection, bucket, size));
  const bucket = await openLayoutBucket(connection);
  const laneCounts = await whenSettled(() =>
    settleLaneCounts(bucket, manager, { count: laneStreams, now: Date.now() }),
  );
  const inUse = { eventStreams, laneStreams: Math.max(laneStreams, ...laneCounts) };
  await whenSettled(() => deleteEmptySurplus(manager, inUse));
  const plan = layout(settings, servers.storeBytes, await whenSettled(() => streamsFound(manager)));
  for (const stream of plan.streams) await whenSettled(() => ensureStream(manager, stream, servers.isComplete));
  for (const consumer of plan.consumers) await whenSettled(() => ensureConsumer(manager, consumer));
  for (const bucket of plan.buckets) await whenSettled(() => ensureBucket(connection, bucket, size));
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
async function ensureBucket({ nc }: Connection, plan: BucketPlan, { replicas, mayResize }: BucketSize): Promise<void> {
  await new Kvm(nc).create(plan.name, { history: 1, replicas, max_bytes: plan.maxBytes, ttl: plan.ttlMs ?? 0 });
  const manager = await jetstreamManager(nc);
  const found = await findStream(manager, bucketStream(plan.name));
  if (found === undefined) return;
  const wanted = { max_bytes: plan.maxBytes, num_replicas: Math.max(found.num_replicas, replicas) };
  if (mayResize && differs(found, wanted)) await manager.streams.update(found.name, wanted);
}

async function findStream(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  const found = await manager.streams.info(name).catch(undefinedIfMissing(JetStreamApiCodes.StreamNotFound));
  return found?.config;
}

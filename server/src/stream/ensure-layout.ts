import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  PersistMode,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { assertServers } from './assert-servers.ts';
import type { Connection } from './connect-nats.ts';
import {
  bucketStream,
  type BucketPlan,
  type ConsumerPlan,
  eventStreamName,
  layout,
  type StreamPlan,
  type StreamSettings,
} from './layout.ts';
import { whenSettled } from './when-settled.ts';

/** Makes what is missing, brings what exists to the settings, and throws a sentence about what cannot be kept. */
export async function ensureLayout(connection: Connection, settings: StreamSettings): Promise<void> {
  const manager = await whenSettled(() => jetstreamManager(connection.nc, { timeout: 2_000 }));
  const isThere = (await whenSettled(() => findStream(manager, eventStreamName(0)))) !== undefined;
  const servers = await assertServers(connection.nc, { replicas: settings.replicas, isThere });
  const plan = layout(settings, servers.storeBytes);
  await whenSettled(() => refuseOrDeleteSurplus(manager, settings.eventStreams));
  await whenSettled(() => refuseNewLaneCount(manager, settings.laneStreams));
  for (const stream of plan.streams) await whenSettled(() => ensureStream(manager, stream, servers.isComplete));
  for (const consumer of plan.consumers) await whenSettled(() => ensureConsumer(manager, consumer));
  for (const bucket of plan.buckets) await whenSettled(() => ensureBucket(connection, bucket, settings));
}

/**
 * Without all servers no size is changed: it would be that of the servers that happened to answer. What a new version puts
 * into a stream must be taken by it all the same.
 */
async function ensureStream(manager: JetStreamManager, plan: StreamPlan, mayChange: boolean): Promise<void> {
  const found = await findStream(manager, plan.name);
  if (found === undefined) {
    await manager.streams.add(plan);
    return;
  }
  const broken = brokenPromise(found, plan);
  if (broken !== undefined) throw new Error(`stream ${plan.name} ${broken}`);
  const subjects = plan.subjects.filter((subject) => !found.subjects.includes(subject));
  if (mayChange && differs(found, plan)) await manager.streams.update(plan.name, plan);
  else if (subjects.length > 0) {
    await manager.streams.update(plan.name, { ...found, subjects: [...found.subjects, ...subjects] });
  }
}

const FOR_GOOD = 'that cannot be changed later: back it up, delete it and start again';

/** What our guarantees stand on. A process that was started with a setting forgotten must not weaken them for all. */
export function brokenPromise(found: StreamConfig, plan: StreamPlan): string | undefined {
  if (found.storage !== plan.storage) return `keeps its messages in ${found.storage}, not in files; ${FOR_GOOD}`;
  if (found.retention !== plan.retention) return `has retention ${found.retention}, not ${plan.retention}; ${FOR_GOOD}`;
  if (found.persist_mode === PersistMode.Async)
    return `acknowledges before it writes (persist mode async); ${FOR_GOOD}`;
  if (found.num_replicas > (plan.num_replicas ?? 1)) {
    return `has ${found.num_replicas} replicas: set MILLRACE_REPLICAS to that, or reduce them with the nats tool first`;
  }
  return undefined;
}

/** Fewer event streams than before: one that still holds requests would be read by nobody. */
async function refuseOrDeleteSurplus(manager: JetStreamManager, eventStreams: number): Promise<void> {
  for await (const { config, state } of manager.streams.list()) {
    const index = /^EVENTS-(\d+)$/.exec(config.name)?.[1];
    if (index === undefined || Number(index) < eventStreams) continue;
    if (state.messages > 0) {
      const count = Number(index) + 1;
      throw new Error(
        `stream ${config.name} still holds ${state.messages} requests: set MILLRACE_EVENT_STREAMS to ${count} until they have expired`,
      );
    }
    await manager.streams.delete(config.name);
  }
}

/** Which stream a lane is in follows from their number: with another one, what waits would be looked for elsewhere. */
async function refuseNewLaneCount(manager: JetStreamManager, laneStreams: number): Promise<void> {
  const found: { name: string; messages: number }[] = [];
  for await (const { config, state } of manager.streams.list()) {
    if (/^LANES-\d+$/.test(config.name)) found.push({ name: config.name, messages: state.messages });
  }
  if (found.length === 0 || found.length === laneStreams) return;
  const holding = found.find(({ messages }) => messages > 0);
  if (holding !== undefined) {
    throw new Error(
      `stream ${holding.name} still holds deliveries: set MILLRACE_LANE_STREAMS to ${found.length} until they are done`,
    );
  }
  for (const { name } of found.slice(laneStreams)) await manager.streams.delete(name);
}

async function ensureConsumer(manager: JetStreamManager, { stream, config }: ConsumerPlan): Promise<void> {
  const name = config.durable_name;
  const missing = undefinedIfMissing(JetStreamApiCodes.ConsumerNotFound);
  const found = await manager.consumers.info(stream, name).catch(missing);
  if (found === undefined) await manager.consumers.add(stream, config);
}

/** A bucket that exists is left as it is by the library, so its stream is brought to the settings beside it. */
async function ensureBucket({ nc }: Connection, plan: BucketPlan, { replicas }: StreamSettings): Promise<void> {
  await new Kvm(nc).create(plan.name, { history: 1, replicas, max_bytes: plan.maxBytes, ttl: plan.ttlMs ?? 0 });
  const manager = await jetstreamManager(nc);
  const found = await findStream(manager, bucketStream(plan.name));
  if (found !== undefined && found.num_replicas < replicas) {
    await manager.streams.update(found.name, { num_replicas: replicas });
  }
}

async function findStream(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  const found = await manager.streams.info(name).catch(undefinedIfMissing(JetStreamApiCodes.StreamNotFound));
  return found?.config;
}

function differs(found: StreamConfig, plan: StreamPlan): boolean {
  const wanted = Object.entries(plan);
  return wanted.some(([key, value]) => JSON.stringify(value) !== JSON.stringify(found[key as keyof StreamConfig]));
}

function undefinedIfMissing(code: number): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof JetStreamApiError && error.code === code) return undefined;
    throw error;
  };
}

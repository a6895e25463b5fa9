import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  PersistMode,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { Logger } from '../log.ts';
import { appendRequest, type Appended, type RequestToAppend } from './append-request.ts';
import { assertServers } from './assert-servers.ts';
import { openConfigView, openConfigWriter, type ConfigView, type ConfigWriter } from './config-bucket.ts';
import { connectNats, type Connection } from './connect-nats.ts';
import { openEventStreams } from './event-streams.ts';
import { type BucketPlan, type ConsumerPlan, layout, type StreamPlan, type StreamSettings } from './layout.ts';
import { probeStreams } from './probe-streams.ts';
import { openPublisher } from './publish.ts';

export type Stream = AsyncDisposable & {
  append(request: RequestToAppend): Promise<Appended>;
  /** Whether an append would be tried now. */
  isAvailable(): boolean;
  configWriter(): Promise<ConfigWriter>;
  configView(): Promise<ConfigView>;
};

export type StreamNeeds = { natsUrl: string; settings: StreamSettings; log: Logger };

/** Opens the engine: everything in the layout exists and keeps its promises, or this throws and says which one not. */
export async function openStream({ natsUrl, settings, log }: StreamNeeds): Promise<Stream> {
  await using opening = new AsyncDisposableStack();
  const publishing = opening.use(await connectNats({ url: natsUrl, name: 'millrace-publish', log }));
  const watching = opening.use(await connectNats({ url: natsUrl, name: 'millrace-watch', log }));
  await ensureLayout(watching, settings);
  const publisher = opening.use(openPublisher(publishing));
  const events = opening.use(
    openEventStreams({ connection: publishing, publisher, count: settings.eventStreams, log }),
  );
  opening.use(probeStreams({ connection: publishing, streams: events.streams, log }));
  const open = opening.move();
  return {
    append: (request) => appendRequest(request, { connection: publishing, events, log }),
    isAvailable: () => publishing.isConnected() && events.streams.some((stream) => stream.trouble === undefined),
    configWriter: () => openConfigWriter(watching),
    configView: () => openConfigView(watching, log),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function ensureLayout(connection: Connection, settings: StreamSettings): Promise<void> {
  const { storeBytes } = await assertServers(connection.nc, settings.replicas);
  const plan = layout(settings, storeBytes);
  const manager = await jetstreamManager(connection.nc);
  for (const stream of plan.streams) await ensureStream(manager, stream);
  for (const consumer of plan.consumers) await ensureConsumer(manager, consumer);
  for (const bucket of plan.buckets) await ensureBucket(connection, bucket, settings);
}

async function ensureStream(manager: JetStreamManager, plan: StreamPlan): Promise<void> {
  const found = await manager.streams.info(plan.name).catch(undefinedIfMissing(JetStreamApiCodes.StreamNotFound));
  if (found === undefined) {
    await manager.streams.add(plan);
    return;
  }
  const broken = brokenPromise(found.config, plan);
  if (broken !== undefined) {
    throw new Error(
      `stream ${plan.name} ${broken}; that cannot be changed later: back it up, delete it and start again`,
    );
  }
  if (differs(found.config, plan)) await manager.streams.update(plan.name, plan);
}

/** What a stream is made with for good, and what our guarantees stand on. */
export function brokenPromise(found: StreamConfig, plan: StreamPlan): string | undefined {
  if (found.storage !== plan.storage) return `keeps its messages in ${found.storage}, not in files`;
  if (found.retention !== plan.retention) return `has retention ${found.retention}, not ${plan.retention}`;
  if (found.persist_mode === PersistMode.Async) return 'acknowledges before it writes (persist mode async)';
  return undefined;
}

function differs(found: StreamConfig, plan: StreamPlan): boolean {
  const wanted = Object.entries(plan);
  return wanted.some(([key, value]) => JSON.stringify(value) !== JSON.stringify(found[key as keyof StreamConfig]));
}

async function ensureConsumer(manager: JetStreamManager, { stream, config }: ConsumerPlan): Promise<void> {
  const name = config.durable_name;
  const found = await manager.consumers
    .info(stream, name)
    .catch(undefinedIfMissing(JetStreamApiCodes.ConsumerNotFound));
  if (found === undefined) await manager.consumers.add(stream, config);
}

async function ensureBucket(connection: Connection, plan: BucketPlan, settings: StreamSettings): Promise<void> {
  await new Kvm(connection.nc).create(plan.name, { history: 1, replicas: settings.replicas, max_bytes: plan.maxBytes });
}

function undefinedIfMissing(code: number): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof JetStreamApiError && error.code === code) return undefined;
    throw error;
  };
}

/** The real roles of the product, each in a simulated process, over the model of the engine. */
import './clock/virtual-globals.ts';
import { openLog } from '../../../server/src/log.ts';
import { openMetrics } from '../../../server/src/metrics/open-metrics.ts';
import { watchDelay } from '../../../server/src/metrics/watch-delay.ts';
import { startDeliver } from '../../../server/src/deliver/start-deliver.ts';
import { readNetworks } from '../../../server/src/http/address-policy.ts';
import { startProjector } from '../../../server/src/projection/project-config.ts';
import { startRecorders } from '../../../server/src/record/record-streams.ts';
import { openConfigView } from '../../../server/src/stream/config/config-bucket.ts';
import { openConfigWriter } from '../../../server/src/stream/config/config-writer.ts';
import { appendRequest, type RequestToAppend } from '../../../server/src/stream/events/append-request.ts';
import { openEventStreams } from '../../../server/src/stream/events/event-streams.ts';
import { probeStreams } from '../../../server/src/stream/events/probe-streams.ts';
import type { StreamSettings } from '../../../server/src/stream/layout/layout.ts';
import type { Connect } from '../../../server/src/stream/nats/connect-nats.ts';
import { openEngineClock } from '../../../server/src/stream/nats/engine-clock.ts';
import { openPublisher } from '../../../server/src/stream/nats/publish.ts';
import { openDeliverySide } from '../../../server/src/stream/open-delivery-side.ts';
import { openRecordSide } from '../../../server/src/stream/open-record-side.ts';
import { connectModel } from './engine/model-connection.ts';
import type { ModelEngine } from './engine/model-engine.ts';
import type { ModelOutbox } from './model-outbox.ts';
import type { ModelRecord } from './model-record.ts';
import { connectWith, type Plant, plantIn } from './plants.ts';
import type { Receivers } from './receivers.ts';
import { openVirtualClock, running, type VirtualProcess } from './clock/virtual-clock.ts';
import type { LeaseWatch } from './watch-leases.ts';

export type RoleNeeds = {
  engine: ModelEngine;
  settings: StreamSettings;
  receivers: Receivers;
  record: ModelRecord;
  outbox: ModelOutbox;
  leases: LeaseWatch;
  /** Divides every retry time. */
  retryScale: number;
  /** A bug to show that the simulation notices it. */
  plant?: Plant | undefined;
};

const log = openLog({ level: 'silent', pretty: false });
const KEYS = new Map([[1, Buffer.alloc(32, 'k')]]);
const NETWORKS = readNetworks('0.0.0.0/0');
const DAY_MS = 86_400_000;
const RECORDED = { recordRetentionMs: 30 * DAY_MS, counterRetentionMs: 30 * DAY_MS, sample: 1, rows: 1 };

/**
 * The event loop of a simulated process is never late. The watch of it has one timer for the program: it starts here, on a clock
 * that does not run.
 */
const still = openVirtualClock({ startsAt: 0, failed: () => undefined });
running.run(
  still.start('nobody', () => 0),
  () => watchDelay(() => undefined),
);

let connections = 0;

/** Numbers begin anew with each run, so that the same seed gives the same names. */
export function forgetConnections(): void {
  connections = 0;
}

function connectTo(engine: ModelEngine, process: VirtualProcess): Connect {
  return async () => {
    connections += 1;
    return connectModel(engine, process, connections);
  };
}

export async function playDeliver(process: VirtualProcess, needs: RoleNeeds): Promise<AsyncDisposable> {
  const { engine, settings, receivers, leases, retryScale, plant } = needs;
  const connect = connectWith(connectTo(engine, process), plant);
  const metrics = openMetrics();
  await using starting = new AsyncDisposableStack();
  const watching = starting.use(await connect('watch'));
  const { now } = starting.use(await openEngineClock({ connection: watching, metrics, log }));
  const real = starting.use(await openDeliverySide({ connect, settings, now, log, metrics }));
  const side = leases.watch(plantIn(real, plant), process);
  const config = starting.use(await openConfigView({ connection: watching, roles: ['deliver'], log }));
  const deliverSettings = { keys: KEYS, networks: NETWORKS, retryScale, maxInFlight: 50 };
  starting.use(await startDeliver({ settings: deliverSettings, config, side, client: receivers.client(), log }));
  return starting.move();
}

export async function playRecord(
  process: VirtualProcess,
  { engine, settings, record }: RoleNeeds,
): Promise<AsyncDisposable> {
  const connect = connectTo(engine, process);
  const metrics = openMetrics();
  await using starting = new AsyncDisposableStack();
  const watching = starting.use(await connect('watch'));
  const { now } = starting.use(await openEngineClock({ connection: watching, metrics, log }));
  const side = starting.use(await openRecordSide({ connect, settings, now, log, metrics }));
  const writing = { store: record.store, writeIn: record.write, settings: RECORDED };
  starting.use(startRecorders({ ...writing, side, now: () => new Date(now()), log }));
  return starting.move();
}

export type Collect = { append(request: RequestToAppend): ReturnType<typeof appendRequest> };

/** Collect's way of storing requests. */
export async function playCollect(process: VirtualProcess, { engine, settings }: RoleNeeds): Promise<Collect> {
  const connection = await connectTo(engine, process)('publish');
  const publisher = openPublisher(connection);
  const metrics = openMetrics();
  const events = openEventStreams({ connection, publisher, count: () => settings.eventStreams, metrics, log });
  probeStreams({ connection, events, log });
  return { append: (request) => appendRequest(request, { connection, events, log }) };
}

/** Control's projector. It has no key ring, so entries are not signed. */
export async function playProject(process: VirtualProcess, { engine, outbox }: RoleNeeds): Promise<AsyncDisposable> {
  const connect = connectTo(engine, process);
  await using starting = new AsyncDisposableStack();
  const publishing = starting.use(await connect('publish'));
  const publisher = starting.use(openPublisher(publishing));
  const quarantine = { append: async () => 'stored' as const, left: () => undefined };
  const configWriter = openConfigWriter({ publishing, publisher, quarantine, connect: () => connect('compare') });
  starting.use(startProjector({ store: outbox.store, configWriter, log }));
  return starting.move();
}

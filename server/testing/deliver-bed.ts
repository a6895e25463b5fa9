/** The real deliver role over a NATS server of its own. */
import { CATALOG, type WebhookSettings } from '@millrace/contract/control';
import { startNatsCluster } from '@millrace/engines';
import { readNetworks } from '../src/http/address-policy.ts';
import { type Logger, openLog } from '../src/log.ts';
import { openKeyRing } from '../src/secrets/seal.ts';
import { sealSettings } from '../src/secrets/sealed-settings.ts';
import { openEntrySigner } from '../src/secrets/sign-entry.ts';
import type { DestinationConfig, SourceConfig } from '../src/domain/configuration.ts';
import { openInspector } from './inspector.ts';
import type { StreamSettings } from '../src/stream/layout/layout.ts';
import { openStream, type Stream, type StreamNeeds } from '../src/stream/open-stream.ts';
import type { Delivery } from '../src/domain/delivery.ts';
import { type Deliver, type DeliverSettings, startDeliver } from '../src/deliver/start-deliver.ts';
import { until } from './until.ts';
import { STREAM_SETTINGS } from './stream-settings.ts';

export const KEYS = new Map([[1, Buffer.alloc(32, 'k')]]);
const keyRing = openKeyRing(KEYS);
export const SIGNER = openEntrySigner(KEYS);

export const SETTINGS: DeliverSettings = {
  keys: KEYS,
  networks: readNetworks('127.0.0.0/8,::1/128'),
  retryScale: 1,
  maxInFlight: 200,
};

export const WORKSPACE_ID = 'ws_1';
export const SOURCE_ID = 'src_1';

const SOURCE: SourceConfig = { id: SOURCE_ID, workspaceId: WORKSPACE_ID, name: '', enabled: true, writeKeyHashes: [] };

export type DestinationChange = Partial<Omit<DestinationConfig, 'settings'>> & { settings: WebhookSettings };

/** A destination as control would have written it to the bucket. */
export function destination({ settings, ...change }: DestinationChange): DestinationConfig {
  const id = change.id ?? 'dst_1';
  const workspaceId = change.workspaceId ?? WORKSPACE_ID;
  const [entry] = CATALOG;
  if (entry === undefined) throw new Error('the catalog is empty');
  const owner = { workspaceId, destinationId: id };
  const sealed = sealSettings(entry, { value: settings, kept: new Map() }, { owner, keyRing });
  const rest = { sourceId: SOURCE_ID, catalog: 'Webhooks', name: id, enabled: true, updatedAt: '2026-01-01T00:00:00Z' };
  return { ...rest, ...change, id, workspaceId, settings: sealed };
}

export type DeadLetter = { reason: string; at: number; destinationId: string; delivery: Delivery };

export async function openBed(options: { nodes?: 1 | 3; level?: string } = {}) {
  await using opening = new AsyncDisposableStack();
  const log = openLog({ level: options.level ?? 'silent', pretty: false });
  const cluster = opening.use(await startNatsCluster({ nodes: options.nodes ?? 1 }));
  const settings = { ...STREAM_SETTINGS, replicas: options.nodes ?? 1 };
  const stream = opening.use(await openStream({ natsUrl: cluster.url, settings, log }));
  const inspector = opening.use(await openInspector(cluster.adminUrl, log));
  const writer = await stream.configWriter(SIGNER);
  const view = opening.use(await stream.configView());
  let requests = 0;
  const open = opening.move();
  return {
    ...inspector,
    cluster,
    stream,
    async putDestination(change: DestinationChange): Promise<void> {
      const wanted = destination(change);
      await writer.putDestination(wanted);
      const seen = () => ({ ...view.destination(wanted.id), mac: undefined });
      await until(() => JSON.stringify(seen()) === JSON.stringify(wanted));
    },
    putSource: (change: Partial<SourceConfig>) => writer.putSource({ ...SOURCE, ...change }),
    /** As another version of control would write it. */
    async putEntry(id: string, value: object): Promise<void> {
      await writer.write([{ key: `destination.${id}`, value: JSON.stringify(value) }]);
    },
    deleteDestination: (id: string) => writer.deleteDestination(id),
    /** Starts the deliver role of one process; several may run. */
    deliver: (change: Partial<DeliverSettings> = {}) => playDeliver(stream, { ...SETTINGS, ...change }, log),
    /** The same by a process that was started with other settings of the streams. */
    deliverWith: (other: Partial<StreamSettings>, change: Partial<DeliverSettings> = {}) =>
      playApart({ natsUrl: cluster.url, settings: { ...settings, ...other }, log }, { ...SETTINGS, ...change }),
    /** Stores one request with these calls, as collect would. */
    append(...calls: object[]): Promise<void> {
      requests += 1;
      return appendCalls(stream, `req-${requests}`, calls);
    },
    deadLetters: () => inspector.deadLetters<DeadLetter>(),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** `peers`: how many deliver processes this one knows of. */
export type PlayedDeliver = Deliver & { peers(): number };

async function playDeliver(stream: Stream, settings: DeliverSettings, log: Logger): Promise<PlayedDeliver> {
  await using starting = new AsyncDisposableStack();
  const side = starting.use(await stream.deliverySide());
  const config = starting.use(await stream.configView({ check: SIGNER.check, mayBeUnsigned: false }));
  const deliver = starting.use(await startDeliver({ settings, config, side, log }));
  const running = starting.move();
  return { ...deliver, peers: side.peers.count, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playApart(needs: StreamNeeds, settings: DeliverSettings): Promise<PlayedDeliver> {
  await using starting = new AsyncDisposableStack();
  const stream = starting.use(await openStream(needs));
  const deliver = starting.use(await playDeliver(stream, settings, needs.log));
  const running = starting.move();
  return { ...deliver, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function appendCalls(stream: Stream, id: string, calls: object[]): Promise<void> {
  const envelope = JSON.stringify({ shape: 'batch', receivedAt: new Date().toISOString(), requestId: id });
  const body = Buffer.from(JSON.stringify({ batch: calls }));
  const stored = await stream.append({ sourceId: SOURCE_ID, id, home: 0, envelope, body });
  if (!stored.ok) throw new Error(stored.why);
}

export type Bed = Awaited<ReturnType<typeof openBed>>;

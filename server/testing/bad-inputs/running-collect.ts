import { startNatsCluster, type NatsCluster } from '@millrace/engines';
import type { AcceptedEvent } from '@millrace/contract';
import { pino } from 'pino';
import type { SourceConfig } from '../../src/domain/configuration.ts';
import { type Connection, connectNats } from '../../src/stream/nats/connect-nats.ts';
import { openStream } from '../../src/stream/open-stream.ts';
import { readEvents } from '../../src/stream/events/read-events.ts';
import { hashOfKey } from '../../src/collect/find-write-key.ts';
import { type Collect, type CollectSettings, serveCollect } from '../../src/collect/serve-collect.ts';
import { type Metrics, openMetrics } from '../../src/metrics/open-metrics.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';
import { until } from '../until.ts';

export const WRITE_KEY = 'wk_5d41402abc4b2a76b9719d911017c592';

export const SOURCE: SourceConfig = {
  id: 'src_web',
  workspaceId: 'ws_tests',
  name: 'Website',
  enabled: true,
  writeKeyHashes: [hashOfKey(WRITE_KEY)],
};

/** One stored request: its raw parts as the engine holds them, and the events that readers make of it. */
export type Stored = { stream: string; subject: string; head: string; bytes: Buffer; events: AcceptedEvent[] };

export type RunningCollect = AsyncDisposable & {
  port: number;
  cluster: NatsCluster;
  /** Another collect role over the same streams; the first one takes no settings. */
  serve(settings: Partial<CollectSettings>, metrics?: Metrics): Promise<Collect>;
  /** Resolves when the running roles act on it. */
  putSource(source: SourceConfig): Promise<void>;
  /** The requests stored since the last call. */
  takeStored(): Promise<Stored[]>;
  /** Lines of the log that no client should be able to bring about: of our own failures, or with the write key. */
  failures(): string[];
  /** Lines of the log about an engine that was away, or that we took for it. */
  troubles(): string[];
};

const STREAMS = { ...STREAM_SETTINGS, eventStreams: 2 };
const RECONNECT_MS = 500;
const PATIENCE_MS = 10_000;

const COLLECT_SETTINGS: CollectSettings = {
  host: '127.0.0.1',
  port: 0,
  maxConnections: 5_000,
  maxHeldBytes: 134_217_728,
  drainMs: 0,
  defaultRate: { perSecond: 1_000_000, burst: 1_000_000 },
  refusalsPerSecond: 0,
  trustedProxies: [],
  publicUrl: undefined,
};

/** The real collect role in this process, over a NATS server of its own, with one source that may send. */
export async function startCollect(): Promise<RunningCollect> {
  await using starting = new AsyncDisposableStack();
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const cluster = starting.use(await startNatsCluster());
  const stream = starting.use(await openStream({ natsUrl: cluster.url, settings: STREAMS, log }));
  const writer = await stream.configWriter();
  await writer.putSource(SOURCE);
  const config = starting.use(await stream.configView());
  const roles = starting.use(new AsyncDisposableStack());
  const serve = async (settings: Partial<CollectSettings>, metrics = openMetrics()) =>
    roles.use(
      await serveCollect({
        settings: { ...COLLECT_SETTINGS, ...settings },
        config,
        ...stream,
        isEngineAvailable: stream.isAvailable,
        tellRefused: () => undefined,
        log,
        metrics,
      }),
    );
  const { port } = await serve({});
  const reader = starting.use(await connectNats({ url: cluster.url, name: 'millrace-tests', log }));
  const running = starting.move();
  return {
    port,
    cluster,
    serve,
    async putSource(source) {
      await writer.putSource(source);
      const [hash = ''] = source.writeKeyHashes;
      await until(() => JSON.stringify(config.sourceByKeyHash(hash)) === JSON.stringify(source));
    },
    takeStored: () => takeStored(reader),
    failures: () => logged.filter((line) => line.includes('"request.failed"') || line.includes(WRITE_KEY)),
    troubles: () => logged.filter((line) => line.includes('"stream.troubled"') || line.includes('"nats.lost"')),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type RawMessage = { message: { subject: string; hdrs?: string; data?: string } };

/** Events as readers see them, and the stored bytes they come from; then the streams are emptied. */
async function takeStored(connection: Connection): Promise<Stored[]> {
  const stored: Stored[] = [];
  while (!connection.isConnected()) await connection.reconnected(RECONNECT_MS);
  const ask = async (subject: string, question: object) =>
    (await connection.nc.request(subject, JSON.stringify(question), { timeout: PATIENCE_MS })).json<RawMessage>();
  for await (const { stream, sequence, events } of readEvents(connection, STREAMS.eventStreams)) {
    const { message } = await ask(`$JS.API.STREAM.MSG.GET.${stream}`, { seq: sequence });
    const head = Buffer.from(message.hdrs ?? '', 'base64').toString('latin1');
    stored.push({ stream, subject: message.subject, head, bytes: Buffer.from(message.data ?? '', 'base64'), events });
  }
  for (const stream of new Set(stored.map((each) => each.stream))) await ask(`$JS.API.STREAM.PURGE.${stream}`, {});
  return stored;
}

/**
 * Copies of whole streams for backup and restore, with their consumers: JetStream's own snapshots, in chunks, each acknowledged after
 * it is written. No role needs this; the operator's commands do, with a NATS user that may (docs/run/backup.md).
 */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { openLog } from '../../log.ts';
import { connectNats } from '../nats/connect-nats.ts';
import type { NatsFiles } from '../nats/nats-access.ts';
import { RESTORE_MARK, TICKETS_STREAM } from '../layout/layout.ts';
import { askServers } from '../prepare/assert-servers.ts';
import { readSupplement, type SupplementMessage, type SupplementNeeds } from './read-supplement.ts';
import { restoreStream } from './restore-stream.ts';
import { restoreSupplement } from './restore-supplement.ts';
import { snapshotStream } from './snapshot-stream.ts';
import {
  type ConsumerFacts,
  type EngineFacts,
  type RestoreNeeds,
  type SnapshotNeeds,
  type StreamFacts,
  toFacts,
} from './stream-facts.ts';
import { type Replicated, whenReplicated } from './when-replicated.ts';

export type { SupplementMessage } from './read-supplement.ts';
export type { ConsumerFacts, EngineFacts, StreamFacts } from './stream-facts.ts';

export type StreamCopies = AsyncDisposable & {
  facts(): Promise<EngineFacts>;
  list(): Promise<StreamFacts[]>;
  find(name: string): Promise<StreamFacts | undefined>;
  consumers(stream: string): Promise<ConsumerFacts[]>;
  /** Resolves with the stream as it was when the snapshot began. */
  snapshot(name: string, needs: SnapshotNeeds): Promise<StreamFacts>;
  /** Reads the messages from a sequence on that are still there; resolves with the first sequence that was not read. */
  supplement(name: string, needs: SupplementNeeds): Promise<number>;
  /** Makes the stream anew, with as many replicas as its config asks for. */
  restore(needs: RestoreNeeds): Promise<StreamFacts>;
  restoreSupplement(messages: AsyncIterable<SupplementMessage>): Promise<void>;
  /** Lets the roles begin: they wait while TICKETS has the mark of a restore. */
  unmarkRestore(): Promise<void>;
  scale(name: string, replicas: number): Promise<void>;
  /** Rejects with the name of what has no leader or misses replicas after this time, ten minutes unless told. */
  whenReplicated(streams: readonly Replicated[], withinMs?: number): Promise<void>;
  remove(name: string): Promise<void>;
};

export type CopiesNeeds = { natsUrl: string; natsFiles?: NatsFiles; inbox?: string };

const REPLICATED_WITHIN_MS = 600_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its connection
export async function openStreamCopies({
  natsUrl,
  natsFiles = {},
  inbox = '_INBOX',
}: CopiesNeeds): Promise<StreamCopies> {
  const log = openLog({ level: 'silent', pretty: false });
  await using opening = new AsyncDisposableStack();
  const connection = opening.use(
    await connectNats({ url: natsUrl, files: natsFiles, inbox, name: 'millrace-copies', log }),
  );
  const { nc } = connection;
  const manager = await jetstreamManager(nc, { timeout: 10_000 });
  const open = opening.move();
  const find = async (name: string) => (await factsOfAll(manager)).find((stream) => stream.name === name);
  return {
    async facts() {
      const heard = await askServers(nc).catch(() => []);
      const servers = heard.filter(({ data }) => data?.config !== undefined);
      const now = servers.map(({ server }) => Date.parse(server.time ?? '')).find((time) => !Number.isNaN(time));
      return {
        version: nc.info?.version ?? '',
        servers: Math.max(1, servers.length),
        now: new Date(now ?? Date.now()),
      };
    },
    list: () => factsOfAll(manager),
    find,
    async consumers(stream) {
      const consumers = [];
      for await (const { name, ack_floor, delivered, num_waiting, num_pending } of manager.consumers.list(stream)) {
        const [ackFloor, reached] = [ack_floor.stream_seq, delivered.stream_seq];
        consumers.push({ name, ackFloor, delivered: reached, waiting: num_waiting, pending: num_pending });
      }
      return consumers;
    },
    snapshot: (name, needs) => snapshotStream(connection, name, needs),
    supplement: (name, needs) => readSupplement(manager, name, needs),
    restore: (needs) => restoreStream(connection, needs),
    restoreSupplement: (messages) => restoreSupplement(connection, messages),
    scale: (name, replicas) => scaleStream(manager, name, replicas),
    whenReplicated: (streams, withinMs = REPLICATED_WITHIN_MS) => whenReplicated(manager, streams, withinMs),
    unmarkRestore: () => unmarkRestore(manager),
    async remove(name) {
      await manager.streams.delete(name);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function factsOfAll(manager: JetStreamManager): Promise<StreamFacts[]> {
  const streams: StreamFacts[] = [];
  for await (const { config, state } of manager.streams.list()) streams.push(toFacts(config, state));
  return streams.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function unmarkRestore(manager: JetStreamManager): Promise<void> {
  const { config } = await manager.streams.info(TICKETS_STREAM);
  const { [RESTORE_MARK]: mark, ...metadata } = config.metadata ?? {};
  if (mark !== undefined) await manager.streams.update(TICKETS_STREAM, { ...config, metadata });
}

async function scaleStream(manager: JetStreamManager, name: string, replicas: number): Promise<void> {
  const { config } = await manager.streams.info(name);
  if (config.num_replicas === replicas) return;
  await manager.streams.update(name, { ...config, num_replicas: replicas });
  await whenReplicated(manager, [{ name, replicas }], REPLICATED_WITHIN_MS);
}

/**
 * The configuration that collect and deliver act on: written by control, watched and held in memory by the others,
 * so that neither a lost connection nor PostgreSQL stands between a call and its source.
 */
import { jetstream } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../log.ts';
import type { Connection } from './connect-nats.ts';
import { CONFIG_BUCKET } from './layout.ts';
import { watchBucket } from './watch-bucket.ts';

export type SourceConfig = {
  id: string;
  workspaceId: string;
  name: string;
  enabled: boolean;
  /** SHA-256 in hex. The keys themselves are nobody's business here. */
  writeKeyHashes: string[];
  /** Calls a second, and how many may come at once after a quiet time. */
  rateLimit?: { perSecond: number; burst: number };
};

export type ConfigWriter = {
  putSource(source: SourceConfig): Promise<void>;
  deleteSource(id: string): Promise<void>;
};

export type ConfigView = AsyncDisposable & {
  sourceByKeyHash(hash: string): SourceConfig | undefined;
};

const SOURCE_PREFIX = 'source.';

export async function openConfigWriter({ nc }: Connection): Promise<ConfigWriter> {
  const bucket = await openBucket(nc);
  return {
    async putSource(source) {
      if (!isSourceConfig(source))
        throw new Error(`source ${JSON.stringify(source)} is not one that collect can act on`);
      await bucket.put(SOURCE_PREFIX + source.id, JSON.stringify(source));
    },
    async deleteSource(id) {
      await bucket.delete(SOURCE_PREFIX + id);
    },
  };
}

/** Resolves when the whole configuration has been read once. */
export async function openConfigView(connection: Connection, log: Logger): Promise<ConfigView> {
  const sources = indexSources();
  const watch = await watchBucket({
    bucket: await openBucket(connection.nc),
    connection,
    log,
    changed(key, entry) {
      if (key.startsWith(SOURCE_PREFIX)) sources.set(key.slice(SOURCE_PREFIX.length), readSource(key, entry));
    },
  });
  return {
    sourceByKeyHash: sources.byKeyHash,
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

/** Ids become a part of subjects, where a dot or a wildcard would mean something else. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;

function readSource(key: string, entry: KvEntry | undefined): SourceConfig | undefined {
  if (entry === undefined) return undefined;
  const value: unknown = entry.json();
  if (!isSourceConfig(value) || SOURCE_PREFIX + value.id !== key) throw new Error('not a source');
  return value;
}

function isSourceConfig(value: unknown): value is SourceConfig {
  const source = value as Partial<SourceConfig> | null;
  if (typeof source !== 'object' || source === null) return false;
  const { id, enabled, writeKeyHashes, rateLimit } = source;
  const hasRate = rateLimit === undefined || (rateLimit.perSecond > 0 && rateLimit.burst >= 1);
  const hasKeys = Array.isArray(writeKeyHashes) && writeKeyHashes.every((hash) => typeof hash === 'string');
  return typeof id === 'string' && SAFE_ID.test(id) && typeof enabled === 'boolean' && hasKeys && hasRate;
}

/** A short timeout: what goes unanswered during an election is tried again, by then perhaps with a leader. */
function openBucket(nc: NatsConnection): Promise<KV> {
  return new Kvm(jetstream(nc, { timeout: 1_500 })).open(CONFIG_BUCKET);
}

/** Sources by id, and by each of their keys. */
function indexSources() {
  const byId = new Map<string, SourceConfig>();
  const byHash = new Map<string, SourceConfig>();
  return {
    set(id: string, source: SourceConfig | undefined): void {
      const before = byId.get(id);
      // A key may have moved to another source meanwhile: only what is still this one's goes.
      for (const hash of before?.writeKeyHashes ?? []) if (byHash.get(hash) === before) byHash.delete(hash);
      byId.delete(id);
      if (source === undefined) return;
      byId.set(id, source);
      for (const hash of source.writeKeyHashes) byHash.set(hash, source);
    },
    byKeyHash: (hash: string): SourceConfig | undefined => byHash.get(hash),
  };
}

/**
 * The configuration that collect and deliver act on. Control writes the bucket; the others watch it and hold it in memory, so that
 * neither a lost connection nor PostgreSQL stands between a call and its source.
 *
 * In the view an entry is absent, used, or held (a destination without an authentic entry: its deliveries wait). The watch moves
 * it, by the judgement of `trust-entries.ts`. The view is unsettled at first, and settled for good when `isSettled` says so.
 */
import { jetstream } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { isFields, readJson, type Stored, unreadable } from '../../domain/format.ts';
import { type DestinationOwner, readSourceConfig, readUserConfig } from '../../domain/read-config.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { indexDestinations, indexSources } from './config-index.ts';
import type { UserMark } from '../../domain/withheld.ts';
import { CONFIG_BUCKET } from '../layout/layout.ts';
import { openTrust, type Trust, type TrustNeeds } from './trust-entries.ts';
import { indexUsers } from './user-index.ts';
import { watchBucket } from '../nats/watch-bucket.ts';
import { whenSettled } from '../nats/when-settled.ts';
import type { DestinationConfig, ProjectedLimits, SourceConfig } from '../../domain/configuration.ts';

export type ConfigView = AsyncDisposable & {
  sourceByKeyHash(hash: string): SourceConfig | undefined;
  isEventBlocked(sourceId: string, event: string): boolean;
  destinationsOf(sourceId: string): readonly DestinationConfig[];
  destination(id: string): DestinationConfig | undefined;
  /** The owner of a destination that was deleted while this process ran. */
  formerOwner(id: string): DestinationOwner | undefined;
  /** The marks of deletion requests for a user of this source, whose workspace need not be given if the source is known. */
  userMark(sourceId: string, userId: string, workspaceId?: string): UserMark | undefined;
  /** Whether any user of the workspace of this source has marks. */
  hasMarks(sourceId: string): boolean;
  /** The time of the newest deletion request of a workspace. */
  lastErasureAt(workspaceId: string): number | undefined;
  /** The workspaces whose limits the operator changed. */
  limits(): ReadonlyMap<string, ProjectedLimits>;
  /** Whether deliver may take up work: see Trust. */
  isSettled(): boolean;
  /** Calls with the id of each destination that changes from now on. */
  onDestination(changed: (id: string) => void): Disposable;
};

const SOURCE_PREFIX = 'source.';
const DESTINATION_PREFIX = 'destination.';
const USER_PREFIX = 'user.';

export const configKey = {
  source: (id: string): string => SOURCE_PREFIX + id,
  destination: (id: string): string => DESTINATION_PREFIX + id,
  user: (hash: string): string => USER_PREFIX + hash,
};

/** The kind and id in a key of the bucket; undefined for a key that is not ours. */
export function readConfigKey(key: string): { kind: 'source' | 'destination' | 'user'; id: string } | undefined {
  if (key.startsWith(SOURCE_PREFIX)) return { kind: 'source', id: key.slice(SOURCE_PREFIX.length) };
  if (key.startsWith(DESTINATION_PREFIX)) return { kind: 'destination', id: key.slice(DESTINATION_PREFIX.length) };
  if (key.startsWith(USER_PREFIX)) return { kind: 'user', id: key.slice(USER_PREFIX.length) };
  return undefined;
}

export type ConfigViewNeeds = {
  connection: Connection;
  trust?: ConfigTrust | undefined;
  metrics?: Metrics;
  log: Logger;
};
/** How a process that has the key ring checks entries. */
export type ConfigTrust = Pick<TrustNeeds, 'check' | 'mayBeUnsigned'>;

/** Resolves when the whole configuration has been read once. */
export async function openConfigView({ connection, trust, metrics, log }: ConfigViewNeeds): Promise<ConfigView> {
  const indexes = { sources: indexSources(), destinations: indexDestinations(), users: indexUsers() };
  const { sources, destinations, users } = indexes;
  const listeners = new Set<(id: string) => void>();
  const trusted = trust && trustFor(indexes, { ...trust, metrics, log });
  const watch = await watchBucket({
    bucket: await openBucket(connection.nc),
    connection,
    log,
    changed(key, entry, text) {
      const judged = trusted?.judge({ key, text, isDeletion: entry === undefined }) ?? 'use';
      const changed = judged === 'keep' ? undefined : apply(indexes, { key, entry, isHeld: judged === 'hold' });
      if (changed !== undefined) for (const listener of listeners) listener(changed);
    },
  });
  return {
    sourceByKeyHash: sources.byKeyHash,
    isEventBlocked: sources.isEventBlocked,
    destinationsOf: destinations.ofSource,
    destination: destinations.byId,
    formerOwner: destinations.former,
    userMark(sourceId, userId, workspaceId = sources.byId(sourceId)?.workspaceId) {
      return workspaceId === undefined ? undefined : users.markOf({ workspaceId, sourceId }, userId);
    },
    hasMarks(sourceId) {
      const workspaceId = sources.byId(sourceId)?.workspaceId;
      return workspaceId !== undefined && users.hasAny(workspaceId);
    },
    lastErasureAt: users.lastErasureAt,
    limits: sources.limits,
    isSettled: () => trusted?.isSettled() ?? true,
    onDestination(changed) {
      listeners.add(changed);
      return { [Symbol.dispose]: () => listeners.delete(changed) };
    },
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

type Indexes = {
  sources: ReturnType<typeof indexSources>;
  destinations: ReturnType<typeof indexDestinations>;
  users: ReturnType<typeof indexUsers>;
};

type Change = { key: string; entry: KvEntry | undefined; isHeld: boolean };

/** The id of the destination that changed, if it was one. */
function apply({ sources, destinations, users }: Indexes, { key, entry, isHeld }: Change): string | undefined {
  const named = readConfigKey(key);
  if (named?.kind === 'source') sources.set(named.id, entry && readOrKeep(readSource(named.id, entry.string())));
  if (named?.kind === 'user') users.set(named.id, entry && readOrKeep(readUserConfig(entry.string())));
  if (named?.kind !== 'destination') return undefined;
  const text = entry?.string();
  destinations.set(named.id, text !== undefined && isHeld ? heldBack(text) : text);
  return named.id;
}

/**
 * A held destination: nothing is sent, and its settings decide nothing. Deliveries that may be for it wait in its lane, undecided,
 * until an authentic entry comes.
 */
function heldBack(text: string): string {
  const read = readJson(text);
  // An unreadable entry is held back already.
  if (!read.ok || !isFields(read.value)) return text;
  const held = { paused: true, settings: { targets: [] }, notUnderstood: 'its entry is not authentic' };
  return JSON.stringify({ ...read.value, ...held });
}

type Telling = { metrics: Metrics | undefined; log: Logger };

function trustFor({ sources, destinations, users }: Indexes, { metrics, log, ...trust }: ConfigTrust & Telling): Trust {
  const count = metrics?.counters('millrace_config_refused_total');
  const held = { source: sources.has, destination: destinations.has, user: users.has };
  return openTrust({
    ...trust,
    isHeld(key) {
      const named = readConfigKey(key);
      return named !== undefined && held[named.kind](named.id);
    },
    isDestination: (key) => readConfigKey(key)?.kind === 'destination',
    refused(key, why) {
      count?.(why).add();
      log.error({ key, why }, 'config.refused');
    },
    now: () => performance.now(),
  });
}

function readSource(id: string, text: string): Stored<SourceConfig> {
  const read = readSourceConfig(text);
  return read.ok && read.value.id !== id ? unreadable('a source of another id') : read;
}

/** Throws for an entry that is unreadable or of a newer format: the view keeps the one before, and the watch logs it. */
function readOrKeep<T>(read: Stored<T>): T {
  if (!read.ok) throw new Error(`${read.problem}: ${read.why}`);
  return read.value;
}

/** A short timeout: a request that gets no answer during an election is tried again, by then perhaps with a leader. */
export function openBucket(nc: NatsConnection): Promise<KV> {
  return whenSettled(() => new Kvm(jetstream(nc, { timeout: 1_500 })).open(CONFIG_BUCKET));
}

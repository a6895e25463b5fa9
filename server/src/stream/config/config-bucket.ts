/**
 * The configuration that collect and deliver act on. Control writes the bucket; the others watch it and hold it in memory, so that
 * neither a lost connection nor PostgreSQL stands between a call and its source.
 *
 * In the view an entry is absent, used, or held (a destination without an authentic entry: its deliveries wait). The watch moves
 * it, by the judgement of `trust-entries.ts`. The view is unsettled at first, and settled for good when `isSettled` says so.
 */
import { jetstream } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { isFields, readJson } from '../../domain/format.ts';
import type { DestinationOwner } from '../../domain/read-config.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { bareValue } from '../../secrets/sign-entry.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { type DestinationIndex, indexDestinations } from './destination-index.ts';
import type { UserMark } from '../../domain/withheld.ts';
import { CONFIG_BUCKET } from '../layout/layout.ts';
import { openTrust, type Trust, type TrustNeeds } from './trust-entries.ts';
import { indexSources, type SourceIndex } from './source-index.ts';
import { indexUsers, type UserIndex } from './user-index.ts';
import { type BucketWatchNeeds, watchBucket } from '../nats/watch-bucket.ts';
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
  /** Whether deliver in this cell may take requests of the source: `behind` means that entries are still on their way. */
  placeOf(sourceId: string, cell: string): SourcePlace;
  /** Whether deliver may take up work: see Trust. */
  isSettled(): boolean;
  /** Calls with the id of each destination that changes from now on. */
  onDestination(changed: (id: string) => void): Disposable;
};

/** `unknown`: there is no entry of the source, and no deletion of it was seen. */
export type SourcePlace = 'here' | 'behind' | 'unknown';

/** The part of the configuration that collect reads. */
export type CollectConfig = Pick<ConfigView, 'sourceByKeyHash' | 'userMark' | 'hasMarks'>;
/** The part that deliver reads. */
export type DeliverConfig = Omit<ConfigView, keyof AsyncDisposable | 'sourceByKeyHash' | 'hasMarks'>;

export const CONFIG_ROLES = ['collect', 'deliver'] as const;
export type ConfigRole = (typeof CONFIG_ROLES)[number];
type ConfigKind = 'source' | 'destination' | 'user';

const SOURCE_PREFIX = 'source.';
const DESTINATION_PREFIX = 'destination.';
const USER_PREFIX = 'user.';

export const configKey = {
  source: (id: string): string => SOURCE_PREFIX + id,
  destination: (id: string): string => DESTINATION_PREFIX + id,
  user: (hash: string): string => USER_PREFIX + hash,
};

/** The kind and id in a key of the bucket; undefined for a key that is not ours. */
export function readConfigKey(key: string): { kind: ConfigKind; id: string } | undefined {
  if (key.startsWith(SOURCE_PREFIX)) return { kind: 'source', id: key.slice(SOURCE_PREFIX.length) };
  if (key.startsWith(DESTINATION_PREFIX)) return { kind: 'destination', id: key.slice(DESTINATION_PREFIX.length) };
  if (key.startsWith(USER_PREFIX)) return { kind: 'user', id: key.slice(USER_PREFIX.length) };
  return undefined;
}

export type ConfigViewNeeds = {
  connection: Connection;
  /** The roles of this process, which decide what is read and kept; by default both. */
  roles?: readonly ConfigRole[];
  trust?: ConfigTrust | undefined;
  metrics?: Metrics;
  log: Logger;
};
/** How a process that has the key ring checks entries. */
export type ConfigTrust = Pick<TrustNeeds, 'check' | 'mayBeUnsigned'>;

/** Resolves when the configuration of these roles has been read once. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openConfigView(needs: ConfigViewNeeds): Promise<ConfigView> {
  const { connection, roles = CONFIG_ROLES, trust, metrics, log } = needs;
  const indexes = openIndexes(roles);
  const { sources, destinations, users } = indexes;
  const listeners = new Set<(id: string) => void>();
  const trusted = trust && trustFor(indexes, { ...trust, metrics, log });
  metrics?.gauges('millrace_config_entries', () => sizesOf(indexes, roles));
  const watch = await watchParts(patternsFor(roles), {
    name: CONFIG_BUCKET,
    bucket: await openBucket(connection.nc),
    connection,
    log,
    changed(key, entry, text) {
      const judged = trusted?.judge({ key, text, isDeletion: entry === undefined }) ?? 'use';
      const change = { key, text: entry && bareValue(text), isHeld: judged === 'hold' };
      const changed = judged === 'keep' ? undefined : apply(indexes, change);
      if (changed !== undefined) for (const listener of listeners) tell(listener, changed, log);
    },
  });
  return {
    sourceByKeyHash: sources.byKeyHash,
    isEventBlocked: sources.isEventBlocked,
    destinationsOf: destinations.ofSource,
    destination: destinations.byId,
    formerOwner: destinations.former,
    userMark(sourceId, userId, workspaceId = workspaceOf(indexes, sourceId)) {
      return workspaceId === undefined ? undefined : users.markOf({ workspaceId, sourceId }, userId);
    },
    hasMarks(sourceId) {
      const workspaceId = sources.workspaceOf(sourceId);
      return workspaceId !== undefined && users.hasAny(workspaceId);
    },
    lastErasureAt: users.lastErasureAt,
    limits: sources.limits,
    placeOf(sourceId, cell) {
      const cells = sources.cellsOf(sourceId);
      if (cells === undefined) return sources.wasDeleted(sourceId) ? 'here' : 'unknown';
      return cells.includes(cell) ? 'here' : 'behind';
    },
    isSettled: () => trusted?.isSettled() ?? true,
    onDestination(changed) {
      listeners.add(changed);
      return { [Symbol.dispose]: () => listeners.delete(changed) };
    },
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

/** The entry is in effect, whatever a listener makes of it: the next one hears of it too. */
function tell(listener: (id: string) => void, destinationId: string, log: Logger): void {
  try {
    listener(destinationId);
  } catch (error) {
    log.error({ destinationId, error: String(error) }, 'config.listener_failed');
  }
}

/** A process that cannot read the entry of a source still sends to its destinations, and must know of erased users. */
function workspaceOf({ sources, destinations }: Indexes, sourceId: string): string | undefined {
  const known = sources.workspaceOf(sourceId);
  if (known !== undefined) return known;
  return destinations.ofSource(sourceId).find(({ notUnderstood }) => notUnderstood === undefined)?.workspaceId;
}

/** Deliver needs sources too: for the events that they block, the limits of their workspaces, and the workspace of a user's mark. */
const KINDS_OF: Readonly<Record<ConfigRole, readonly ConfigKind[]>> = {
  collect: ['source', 'user'],
  deliver: ['source', 'user', 'destination'],
};

function kindsFor(roles: readonly ConfigRole[]): ConfigKind[] {
  return [...new Set(roles.flatMap((role) => KINDS_OF[role]))];
}

/** One watch is enough for a process that reads every kind. */
function patternsFor(roles: readonly ConfigRole[]): { keys?: string }[] {
  const kinds = kindsFor(roles);
  return kinds.length === Object.keys(configKey).length ? [{}] : kinds.map((kind) => ({ keys: configKey[kind]('>') }));
}

async function watchParts(patterns: { keys?: string }[], needs: BucketWatchNeeds): Promise<AsyncDisposable> {
  const watches = await Promise.all(patterns.map((pattern) => watchBucket({ ...needs, ...pattern })));
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
    },
  };
}

type Indexes = { sources: SourceIndex; destinations: DestinationIndex; users: UserIndex };

function openIndexes(roles: readonly ConfigRole[]): Indexes {
  const sources = indexSources({ hasKeys: roles.includes('collect') });
  return { sources, destinations: indexDestinations(), users: indexUsers() };
}

function sizesOf({ sources, destinations, users }: Indexes, roles: readonly ConfigRole[]): [ConfigKind, number][] {
  const sizes = { source: sources.size(), destination: destinations.size(), user: users.size() };
  return kindsFor(roles).map((kind) => [kind, sizes[kind]]);
}

/** `text` is undefined for a deletion. Its MAC is checked by then, and not kept. */
type Change = { key: string; text: string | undefined; isHeld: boolean };

/** The id of the destination that changed, if it was one. */
function apply({ sources, destinations, users }: Indexes, { key, text, isHeld }: Change): string | undefined {
  const named = readConfigKey(key);
  if (named?.kind === 'source') sources.set(named.id, text);
  if (named?.kind === 'user') users.set(named.id, text);
  if (named?.kind !== 'destination') return undefined;
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

/** A short timeout: a request that gets no answer during an election is tried again, by then perhaps with a leader. */
export function openBucket(nc: NatsConnection): Promise<KV> {
  return whenSettled(() => new Kvm(jetstream(nc, { timeout: 1_500 })).open(CONFIG_BUCKET));
}

/**
 * PostgreSQL as the projector uses it: rows of destinations, the outbox of changes, and the lock of the process that projects. The model
 * knows the statements of the projector by their tables, and throws for others. A transaction of a dead process is over; one that is
 * idle for ten seconds is ended, as the setting of the product asks for.
 */
import type { DestinationConfig } from '../../../server/src/domain/configuration.ts';
import type { OutboxRow } from '../../../server/src/store/outbox.ts';
import type { Store, Tx } from '../../../server/src/store/open-store.ts';
import type { ProjectedDestination } from '../../../server/src/store/projection.ts';
import type { Random } from '../seeded-random.ts';
import { running, type VirtualClock, type VirtualProcess } from './clock/virtual-clock.ts';
import { ConnectionLost, type DatabaseMood } from './model-record.ts';

export type ModelOutbox = {
  store: Store;
  /** A person changes a destination: its row and an entry of the outbox, in one transaction. */
  change(config: DestinationConfig): void;
  rows: ReadonlyMap<string, ProjectedDestination>;
  /** How many changes wait. */
  waiting(): number;
};

type Transaction = { owner: VirtualProcess | undefined; usedAt: number; deleted: Set<string>; added: OutboxRow[] };
type Rows = Record<string, unknown>[];

const IDLE_MS = 10_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openModelOutbox(clock: VirtualClock, random: Random, mood: DatabaseMood): ModelOutbox {
  const rows = new Map<string, ProjectedDestination>();
  const outbox = new Map<string, OutboxRow>();
  let added = 0;
  let lock: Transaction | undefined;

  function later(ms: number): Promise<void> {
    const process = running.getStore();
    return new Promise((resolve) => process !== undefined && clock.after(ms, process, resolve));
  }

  const isOver = ({ owner, usedAt }: Transaction) => owner?.state === 'dead' || clock.now() - usedAt > IDLE_MS;

  function tryLock(tx: Transaction): boolean {
    if (lock !== undefined && !isOver(lock)) return lock === tx;
    lock = tx;
    return true;
  }

  function add(row: Omit<OutboxRow, 'id'>): void {
    added += 1;
    const id = String(added).padStart(12, '0');
    outbox.set(id, { ...row, id });
  }

  function answer(tx: Transaction, sql: string, values: readonly unknown[]): Rows {
    const named = values.find((value): value is string[] => Array.isArray(value)) ?? [];
    if (sql.includes('pg_try_advisory_xact_lock')) return [{ locked: tryLock(tx) }];
    if (sql.includes('set_config') || sql.includes('projection_failures')) return [];
    if (sql.startsWith('SELECT 1 AS one FROM outbox'))
      return [...outbox.values()].filter((row) => row.is_repair).slice(0, 1);
    if (sql.startsWith('SELECT id, workspace_id, kind')) return inOrder(outbox).slice(0, Number(values[0]));
    if (sql.startsWith('DELETE FROM outbox')) for (const id of named) tx.deleted.add(id);
    else if (sql.startsWith('INSERT INTO outbox')) tx.added.push(...repairsOf(values as string[][]));
    else if (sql.includes('FROM destinations WHERE id = ANY'))
      return [...new Set(named)].flatMap((id) => rows.get(id) ?? []);
    else if (sql.includes('FROM destinations WHERE id > '))
      return [...rows.values()].filter(({ id }) => id > String(values[1]));
    else if (!/FROM (sources|erased_users)/.test(sql)) throw new Error(`the model does not know the statement ${sql}`);
    return [];
  }

  async function asSystem<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const own: Transaction = { owner: running.getStore(), usedAt: clock.now(), deleted: new Set(), added: [] };
    const query = async (sql: unknown, values: readonly unknown[] = []) => {
      await later(random.between(1, 10));
      if (mood.isAway || isOver(own)) throw new ConnectionLost('the database is away');
      own.usedAt = clock.now();
      return answer(own, String(sql), values);
    };
    try {
      const result = await work({ query } as Tx);
      await later(random.between(1, 10));
      if (mood.isAway || isOver(own)) throw new ConnectionLost('the database went away');
      for (const id of own.deleted) outbox.delete(id);
      for (const row of own.added) add(row);
      if (random.next() < mood.lostAnswers) throw new ConnectionLost('the answer was lost');
      return result;
    } finally {
      if (lock === own) lock = undefined;
    }
  }

  async function holds(): Promise<boolean> {
    await later(random.between(1, 10));
    if (mood.isAway) throw new ConnectionLost('the database is away');
    return outbox.size > 0;
  }

  return {
    store: { asSystem, holds } as unknown as Store,
    change(config) {
      rows.set(config.id, rowOf(config));
      add({ workspace_id: config.workspaceId, kind: 'destination', object_id: config.id, is_repair: false });
    },
    rows,
    waiting: () => outbox.size,
  };
}

/** Changes before repairs, the oldest first. */
function inOrder(outbox: ReadonlyMap<string, OutboxRow>): OutboxRow[] {
  return [...outbox.values()].sort(
    (one, other) => Number(one.is_repair) - Number(other.is_repair) || (one.id < other.id ? -1 : 1),
  );
}

function repairsOf([workspaces = [], kinds = [], ids = []]: readonly string[][]): OutboxRow[] {
  return ids.map((id, index) => ({
    id: '',
    workspace_id: workspaces[index] ?? '',
    kind: kinds[index] as OutboxRow['kind'],
    object_id: id,
    is_repair: true,
  }));
}

const dateOf = (time: string | undefined): Date | null => (time === undefined ? null : new Date(time));

function rowOf({ id, workspaceId, sourceId, ...config }: DestinationConfig): ProjectedDestination {
  const { catalog, name, enabled, settings, updatedAt, paused, resumedAt } = config;
  const changed = new Date(updatedAt);
  return {
    id,
    workspace_id: workspaceId,
    source_id: sourceId,
    catalog,
    name,
    enabled,
    settings,
    paused_at: paused === true ? changed : null,
    paused_by: null,
    resumed_at: dateOf(resumedAt),
    filters: [],
    created_at: changed,
    updated_at: changed,
    is_here: true,
  };
}

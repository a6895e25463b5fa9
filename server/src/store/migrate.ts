import type { Client } from 'pg';
import { VERSION } from '../version.ts';
import { isUnavailable } from './open-store.ts';
import {
  type Applied,
  judgeMigrations,
  type Migration,
  MIGRATION_TABLES,
  MigrationRefused,
  tableOf,
} from './read-migrations.ts';

export type Migrated = {
  applied: string[];
  alreadyThere: number;
  /** Migrations of a newer version, with which this one may work. */
  unknown: string[];
};

export type MigrateOptions = {
  version?: string;
  /** Another process migrates, and this one waits for it. */
  onWait?(): void;
  onApply?(name: string): void;
  /** Ends the connection, also in the middle of a migration, which then leaves nothing behind. */
  signal?: AbortSignal;
};

/** Any number that no other program uses in the same database. */
const LOCK = 4_820_551_301;

/**
 * Brings the database to this version: forward only, one process at a time, each file once.
 * Refuses a database that a newer version has changed so that this one must not use it, and one in which an applied file was
 * changed afterwards.
 */
export async function migrate(
  client: Client,
  migrations: Migration[],
  { version = VERSION, onWait, onApply }: MigrateOptions = {},
): Promise<Migrated> {
  // A read-only login can still find that there is nothing to do.
  const before = await readApplied(client);
  const judged = judgeMigrations(migrations, before, version);
  if (before.length > 0 && judged.pending.length === 0) {
    return { applied: [], alreadyThere: before.length, unknown: judged.unknown };
  }
  await takeLock(client, onWait);
  try {
    await makeTables(client);
    const rows = await readApplied(client);
    const { pending, unknown } = judgeMigrations(migrations, rows, version);
    for (const migration of pending) {
      onApply?.(migration.name);
      await apply(client, migration);
    }
    return { applied: pending.map((migration) => migration.name), alreadyThere: rows.length, unknown };
  } catch (error) {
    throw isForbidden(error) ? new MigrationRefused(FORBIDDEN, { cause: error }) : error;
  } finally {
    // A lost connection has released it.
    await client.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
  }
}

const FORBIDDEN =
  'migrations are pending, and this login may not apply them: set MILLRACE_MIGRATION_DATABASE_URL to one that owns the tables, or run `millrace migrate` with it';

async function takeLock(client: Client, onWait?: () => void): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [LOCK]);
  if (rows[0]?.taken === true) return;
  onWait?.();
  await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
}

/** `least_version` came later; a version that does not know the column leaves it null. */
async function makeTables(client: Client): Promise<void> {
  for (const table of MIGRATION_TABLES) {
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${table} (
         name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    await client.query(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS least_version text`);
  }
}

/** Every migration that the database knows of, oldest first. */
export async function readApplied(client: Client): Promise<Applied[]> {
  const applied: Applied[] = [];
  for (const table of MIGRATION_TABLES) {
    const there = `SELECT has_table_privilege(to_regclass($1), 'SELECT') AS there,
      EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'least_version') AS marked`;
    const { rows } = await client.query<{ there: boolean | null; marked: boolean }>(there, [table]);
    if (rows[0]?.there !== true) continue;
    const mark = rows[0].marked ? 'least_version' : 'NULL::text';
    const sql = `SELECT name, checksum, ${mark} AS "leastVersion", $1::text AS "table" FROM ${table}`;
    applied.push(...(await client.query<Applied>(sql, [table])).rows);
  }
  return applied.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function isForbidden(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '42501') || isForbidden(error.cause);
}

/** A file that goes on with `-- no transaction` may hold one statement, such as CREATE INDEX CONCURRENTLY. */
async function apply(client: Client, migration: Migration): Promise<void> {
  const { name, sql, checksum, isTransactional, leastVersion } = migration;
  const record = `INSERT INTO ${tableOf(migration)} (name, checksum, least_version) VALUES ($1, $2, $3)`;
  const row = [name, checksum, leastVersion];
  try {
    if (!isTransactional) {
      if (!(await isIndexThere(client, sql))) await client.query(sql);
      await client.query(record, row);
      return;
    }
    await client.query('BEGIN');
    // Row-level security binds the owner of the tables too: without this a migration would change no row of any workspace.
    await client.query(`SET LOCAL millrace.system = 'on'`);
    await client.query(sql);
    await client.query(record, row);
    await client.query('COMMIT');
  } catch (error) {
    if (isTransactional) await client.query('ROLLBACK').catch(() => undefined);
    if (isUnavailable(error)) throw error;
    throw new MigrationRefused(`migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/**
 * A process that dies while PostgreSQL builds an index leaves the index behind, whole or as an invalid one, and no record of it.
 * The next start drops the invalid one and builds it again.
 */
async function isIndexThere(client: Client, sql: string): Promise<boolean> {
  const [, index] = /CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)/i.exec(sql) ?? [];
  if (index === undefined) return false;
  const { rows } = await client.query<{ valid: boolean }>(
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [index],
  );
  if (rows[0] === undefined) return false;
  if (!rows[0].valid) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
  return rows[0].valid;
}

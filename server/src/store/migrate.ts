import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';

export type Migration = {
  name: string;
  sql: string;
  checksum: string;
  isTransactional: boolean;
  /** It only adds: the version before it works with what it leaves. */
  isAddition: boolean;
};
export type Migrated = { applied: string[]; alreadyThere: number };

/** Any number that no other program uses in the same database. */
const LOCK = 4_820_551_301;
const NO_TRANSACTION = '-- no transaction';
/** The first line of a migration after which the version before it must not run. */
const BREAKING = '-- breaking';
/**
 * Additions are written down in a table of their own, which a version that does not know them does not read: it can be
 * started again after an upgrade. Up to this migration all were in the one table.
 */
const LAST_IN_ONE_TABLE = '0005_explain.sql';
const TABLES = ['schema_migrations', 'schema_additions'] as const;

/**
 * Brings the database to this version: forward only, one process at a time, each file once.
 * Refuses a database that a newer version has changed, other than by adding to it, and one in which an applied file was changed
 * afterwards.
 */
export async function migrate(client: Client, migrations: Migration[]): Promise<Migrated> {
  // A read-only login can still find that there is nothing to do.
  const before = await readApplied(client);
  if (before.length > 0 && pendingMigrations(migrations, before).length === 0) {
    return { applied: [], alreadyThere: before.length };
  }
  await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
  try {
    for (const table of TABLES) {
      await client.query(
        `CREATE TABLE IF NOT EXISTS ${table} (
           name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
      );
    }
    const rows = await readApplied(client);
    const pending = pendingMigrations(migrations, rows);
    for (const migration of pending) await apply(client, migration);
    return { applied: pending.map((migration) => migration.name), alreadyThere: rows.length };
  } catch (error) {
    throw isForbidden(error) ? new Error(FORBIDDEN, { cause: error }) : error;
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [LOCK]);
  }
}

const FORBIDDEN =
  'migrations are pending, and this login may not apply them: set MILLRACE_MIGRATION_DATABASE_URL to one that owns the tables, or run `npm run migrate` with it';

type Applied = { name: string; checksum: string; isAddition?: boolean };

async function readApplied(client: Client): Promise<Applied[]> {
  const applied: Applied[] = [];
  for (const table of TABLES) {
    const there = `SELECT has_table_privilege(to_regclass($1), 'SELECT') AS there`;
    const { rows } = await client.query<{ there: boolean | null }>(there, [table]);
    if (rows[0]?.there !== true) continue;
    const sql = `SELECT name, checksum, $1::boolean AS "isAddition" FROM ${table}`;
    applied.push(...(await client.query<Applied>(sql, [table === 'schema_additions'])).rows);
  }
  return applied.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501';
}

/** The migrations still to apply; throws when the database and the files contradict each other. */
export function pendingMigrations(migrations: Migration[], applied: readonly Applied[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, checksum, isAddition = false } of applied) {
    const migration = known.get(name);
    if (migration === undefined && isAddition) continue;
    if (migration === undefined) {
      throw new Error(`the database has migration ${name}, which this version does not know: start a newer version`);
    }
    if (migration.checksum !== checksum) {
      throw new Error(`migration ${name} was changed after it was applied: put it back and write a new one`);
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  const last = applied.findLast(({ name }) => known.has(name))?.name ?? '';
  const pending = migrations.filter(({ name }) => !done.has(name));
  const late = pending.find(({ name }) => name < last);
  if (late !== undefined)
    throw new Error(`migration ${late.name} sorts before ${last}, which is applied: give it a higher number`);
  return pending;
}

export function readMigrations(dir: string): Migration[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readMigration(name, readFileSync(join(dir, name), 'utf8')));
}

export function readMigration(name: string, sql: string): Migration {
  const checksum = createHash('sha256').update(sql).digest('hex');
  const isAddition = name > LAST_IN_ONE_TABLE && !sql.startsWith(BREAKING);
  return { name, sql, checksum, isTransactional: !sql.startsWith(NO_TRANSACTION), isAddition };
}

/** A file that begins with `-- no transaction` may hold one statement, such as CREATE INDEX CONCURRENTLY. */
async function apply(client: Client, migration: Migration): Promise<void> {
  const { name, sql, checksum, isTransactional, isAddition } = migration;
  const table = isAddition ? 'schema_additions' : 'schema_migrations';
  const record = `INSERT INTO ${table} (name, checksum) VALUES ($1, $2)`;
  if (!isTransactional) {
    await client.query(sql);
    await client.query(record, [name, checksum]);
    return;
  }
  await client.query('BEGIN');
  try {
    // Row-level security binds the owner of the tables too: without this a migration would change no row of any workspace.
    await client.query(`SET LOCAL millrace.system = 'on'`);
    await client.query(sql);
    await client.query(record, [name, checksum]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

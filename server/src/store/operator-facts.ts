/** Questions of the operator's commands to the database, over a connection of their own: no role needs them. */
import { countMails, type MailCounts } from './mails.ts';
import { connected } from './migrate-database.ts';

export type DatabaseState = {
  version: string;
  versionNumber: number;
  bytes: number;
  /** Tables in the schema that the login uses, and in `public`, which a forced restore drops. */
  tables: number;
  /** The rows of the tables that a person would count: null before the first migration. */
  rows: { workspaces: number; sources: number; destinations: number; users: number; auditEntries: number } | null;
  /** The keys of the ring that have sealed something here. */
  keyIds: number[];
};

export async function readDatabaseState(databaseUrl: string): Promise<DatabaseState> {
  await using reading = await connected(databaseUrl);
  const state = await stateOver(reading.client);
  return state;
}

/** The state of one moment, and the name under which `pg_dump --snapshot` sees the same moment until this is disposed. */
export type DatabaseSnapshot = AsyncDisposable & { state: DatabaseState; snapshot: string };

export async function freezeDatabase(databaseUrl: string): Promise<DatabaseSnapshot> {
  await using opening = new AsyncDisposableStack();
  const { client } = opening.use(await connected(databaseUrl));
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // Nothing is asked here while pg_dump works, however long that takes.
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rows } = await client.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
  const state = await stateOver(client);
  const open = opening.move();
  return { state, snapshot: rows[0]?.snapshot ?? '', [Symbol.asyncDispose]: () => open.disposeAsync() };
}

type Asking = Awaited<ReturnType<typeof connected>>['client'];

async function stateOver(client: Asking): Promise<DatabaseState> {
  const ask = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows;
  await ask(`SELECT set_config('millrace.system', 'on', false)`);
  const [facts] = await ask<{ version: string; number: number; bytes: string; tables: string; ours: boolean }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       pg_database_size(current_database())::text AS bytes,
       (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN (to_regnamespace(current_schema()), to_regnamespace('public')))::text AS tables,
       to_regclass('audit_log') IS NOT NULL AND has_table_privilege(to_regclass('audit_log'), 'SELECT') AS ours`,
  );
  const counts = facts?.ours
    ? await ask<NonNullable<DatabaseState['rows']>>(
        `SELECT (SELECT count(*) FROM workspaces)::int AS workspaces, (SELECT count(*) FROM sources)::int AS sources,
           (SELECT count(*) FROM destinations)::int AS destinations, (SELECT count(*) FROM users)::int AS users,
           (SELECT count(*) FROM audit_log)::int AS "auditEntries"`,
      )
    : [];
  const keys = facts?.ours ? await ask<{ id: number }>('SELECT key_id AS id FROM key_ring ORDER BY key_id') : [];
  return {
    version: facts?.version ?? '',
    versionNumber: facts?.number ?? 0,
    bytes: Number(facts?.bytes ?? 0),
    tables: Number(facts?.tables ?? 0),
    rows: counts[0] ?? null,
    keyIds: keys.map(({ id }) => id),
  };
}

/** Empties the schema of the login, for a restore that was told to replace everything, and makes the role that grants name. */
export async function prepareForRestore(databaseUrl: string, { isForced }: { isForced: boolean }): Promise<void> {
  await using database = await connected(databaseUrl);
  const { client } = database;
  if (isForced)
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC');
  await client.query(`DO $$ BEGIN CREATE ROLE millrace_app NOLOGIN;
    EXCEPTION WHEN duplicate_object OR insufficient_privilege THEN NULL; END $$`);
}

/** The mails that wait or were given up; undefined before the migration that brings them. */
export async function readMailCounts(databaseUrl: string): Promise<MailCounts | undefined> {
  await using reading = await connected(databaseUrl);
  const { client } = reading;
  await client.query(`SELECT set_config('millrace.system', 'on', false)`);
  const { rows } = await client.query<{ ours: boolean }>(`SELECT to_regclass('mails') IS NOT NULL AS ours`);
  if (rows[0]?.ours !== true) return undefined;
  const counts = await countMails({ query: async (sql) => (await client.query(sql)).rows });
  return counts;
}

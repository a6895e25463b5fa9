import { Client } from 'pg';
import { MIGRATIONS_DIR } from '../installed-files.ts';
import { compareVersions, VERSION } from '../version.ts';
import { fenceDatabase } from './fence-database.ts';
import { migrate, type Migrated, type MigrateOptions, readApplied } from './migrate.ts';
import { judgeMigrations, MigrationRefused, readMigrations } from './read-migrations.ts';

/**
 * Brings the database to this version over a connection of its own: migrations may take longer than any query. `serviceUrl`
 * signs in as the service does, and its login gets the service's role.
 */
export async function migrateDatabase(
  databaseUrl: string,
  serviceUrl = databaseUrl,
  options: MigrateOptions = {},
): Promise<Migrated> {
  await using migrating = await connected(databaseUrl);
  const { signal } = options;
  signal?.throwIfAborted();
  const end = () => void migrating.client.end();
  signal?.addEventListener('abort', end, { once: true });
  using _ = { [Symbol.dispose]: () => signal?.removeEventListener('abort', end) };
  const migrated = await migrate(migrating.client, readMigrations(MIGRATIONS_DIR), options);
  await fenceDatabase(migrating.client, await loginOf(serviceUrl));
  return migrated;
}

export type MigrationState = {
  applied: string[];
  pending: string[];
  /** Applied by a newer version. */
  unknown: { name: string; leastVersion: string | null }[];
  /** Why this version must not use the database. */
  refused: string | undefined;
  /** The oldest version that works with the schema once the pending migrations are applied. */
  leastVersion: string;
};

/** Compares the database with this version, and changes nothing. */
export async function readMigrationState(databaseUrl: string): Promise<MigrationState> {
  await using reading = await connected(databaseUrl);
  const migrations = readMigrations(MIGRATIONS_DIR);
  const applied = await readApplied(reading.client);
  const names = applied.map(({ name }) => name);
  const marks = [...migrations, ...applied].map(({ leastVersion }) => leastVersion ?? '0.0.0');
  const known = new Set(migrations.map(({ name }) => name));
  return {
    applied: names,
    pending: migrations.map(({ name }) => name).filter((name) => !names.includes(name)),
    unknown: applied.filter(({ name }) => !known.has(name)).map(({ name, leastVersion }) => ({ name, leastVersion })),
    refused: reasonFor(() => judgeMigrations(migrations, applied, VERSION)),
    leastVersion: marks.toSorted(compareVersions).at(-1) ?? VERSION,
  };
}

function reasonFor(judge: () => unknown): string | undefined {
  try {
    judge();
    return undefined;
  } catch (error) {
    if (error instanceof MigrationRefused) return error.message;
    throw error;
  }
}

async function loginOf(url: string): Promise<string> {
  await using service = await connected(url);
  const { rows } = await service.client.query<{ name: string }>('SELECT current_user AS name');
  return rows[0]?.name ?? '';
}

/** One connection for one purpose, outside the store's pool. */
export async function connected(url: string): Promise<AsyncDisposable & { client: Client }> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A lost connection is reported twice: to the waiting query, and as an event that would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

import { Client } from 'pg';
import { MIGRATIONS_DIR } from '../installed-files.ts';
import { fenceDatabase } from './fence-database.ts';
import { migrate, type Migrated, readMigrations } from './migrate.ts';

/**
 * Brings the database to this version over a connection of its own: migrations may take longer than any query. `serviceUrl`
 * signs in as the service does, and its login gets the service's role.
 */
export async function migrateDatabase(databaseUrl: string, serviceUrl = databaseUrl): Promise<Migrated> {
  await using migrating = await connected(databaseUrl);
  const migrated = await migrate(migrating.client, readMigrations(MIGRATIONS_DIR));
  await fenceDatabase(migrating.client, await loginOf(serviceUrl));
  return migrated;
}

async function loginOf(url: string): Promise<string> {
  await using service = await connected(url);
  const { rows } = await service.client.query<{ name: string }>('SELECT current_user AS name');
  return rows[0]?.name ?? '';
}

/** One connection for one purpose, outside the store's pool. */
export async function connected(url: string): Promise<AsyncDisposable & { client: Client }> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

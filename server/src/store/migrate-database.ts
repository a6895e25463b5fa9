import { Client } from 'pg';
import { join } from 'node:path';
import { migrate, type Migrated, readMigrations } from './migrate.ts';

const MIGRATIONS_DIR = join(import.meta.dirname, '../../migrations');

/** Brings the database to this version over a connection of its own: migrations may take longer than any query. */
export async function migrateDatabase(databaseUrl: string): Promise<Migrated> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    return await migrate(client, readMigrations(MIGRATIONS_DIR));
  } finally {
    await client.end();
  }
}

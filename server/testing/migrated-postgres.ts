import { createHash } from 'node:crypto';
import { type PostgresOptions, type PostgresServer, startPostgresServer } from '@millrace/engines';
import { MIGRATIONS_DIR } from '../src/installed-files.ts';
import { migrateDatabase } from '../src/store/migrate-database.ts';
import { readMigrations } from '../src/store/read-migrations.ts';

/** A server whose database this version has migrated: hundreds of tests start one, and the migrations run once for all. */
export function startMigratedPostgres(options: Omit<PostgresOptions, 'content'> = {}): Promise<PostgresServer> {
  const migrations = readMigrations(MIGRATIONS_DIR).map(({ name, checksum }) => [name, checksum]);
  const name = createHash('sha256').update(JSON.stringify(migrations)).digest('hex');
  const make = ({ url, serviceUrl }: PostgresServer) => migrateDatabase(url, serviceUrl);
  return startPostgresServer({ ...options, content: { name, make } });
}

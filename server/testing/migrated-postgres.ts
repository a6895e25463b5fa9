import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresOptions, type PostgresServer, startPostgresServer } from '@millrace/engines';
import { MIGRATIONS_DIR } from '../src/installed-files.ts';
import { migrateDatabase } from '../src/store/migrate-database.ts';
import { readMigrations } from '../src/store/read-migrations.ts';

/** The code that applies migrations and grants rights: a database that older code made would hide what a change of it does. */
const CODE = ['migrate-database.ts', 'migrate.ts', 'fence-database.ts'];

const content = {
  name: nameOfContent(),
  make: ({ url, serviceUrl }: PostgresServer) => migrateDatabase(url, serviceUrl),
};

/** A server whose database this version has migrated: hundreds of tests start one, and the migrations run once for all. */
export function startMigratedPostgres(options: Omit<PostgresOptions, 'content'> = {}): Promise<PostgresServer> {
  return startPostgresServer({ ...options, content });
}

function nameOfContent(): string {
  const migrations = readMigrations(MIGRATIONS_DIR).map(({ name, checksum }) => [name, checksum]);
  const code = CODE.map((file) => readFileSync(join(import.meta.dirname, '../src/store', file), 'utf8'));
  return createHash('sha256')
    .update(JSON.stringify([migrations, code]))
    .digest('hex');
}

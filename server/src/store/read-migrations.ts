/**
 * Migrations as files. Each begins with its mark, `-- least version: X`: the oldest server that still works with the schema once
 * this migration is applied. A migration that only adds keeps the mark of the version before it; one that takes away (the
 * contract step, a version after the last reader is gone) names the first version that does without.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareVersions } from '../version.ts';

export type Migration = {
  name: string;
  sql: string;
  checksum: string;
  isTransactional: boolean;
  leastVersion: string;
};

/** A row of the database about a migration. `leastVersion` is null when the version that applied it wrote no marks yet. */
export type Applied = { name: string; checksum: string; leastVersion: string | null; table: MigrationTable };

/**
 * The last version that reads no marks. It refuses an unknown row of `schema_migrations` and passes over one of
 * `schema_additions`, so a migration after which it must not run goes into the first, and every other one into the second.
 */
const LAST_WITHOUT_MARKS = '0.1.0';
/** Up to this migration all were in the one table. */
const LAST_IN_ONE_TABLE = '0005_explain.sql';
export const MIGRATION_TABLES = ['schema_migrations', 'schema_additions'] as const;
export type MigrationTable = (typeof MIGRATION_TABLES)[number];

const MARK = /^-- least version: (\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\n/;
const NO_TRANSACTION = '-- no transaction';

export function readMigrations(dir: string): Migration[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readMigration(name, readFileSync(join(dir, name), 'utf8')));
}

/** The checksum leaves the mark out: files that were applied before there were marks have kept theirs. */
export function readMigration(name: string, text: string): Migration {
  const [line = '', leastVersion] = MARK.exec(text) ?? [];
  if (leastVersion === undefined)
    throw new Error(`migration ${name} does not begin with \`-- least version: X.Y.Z\`: docs/run/upgrading.md`);
  const sql = text.slice(line.length);
  const checksum = createHash('sha256').update(sql).digest('hex');
  return { name, sql, checksum, isTransactional: !sql.startsWith(NO_TRANSACTION), leastVersion };
}

export function tableOf({ name, leastVersion }: Migration): MigrationTable {
  if (name <= LAST_IN_ONE_TABLE) return 'schema_migrations';
  return compareVersions(leastVersion, LAST_WITHOUT_MARKS) > 0 ? 'schema_migrations' : 'schema_additions';
}

/** The database and this version do not fit: a retry changes nothing, an operator has to. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
}

export type Judged = {
  pending: Migration[];
  /** Applied by a newer version, and this one may work with them. */
  unknown: string[];
};

/** Compares the files with the database; throws MigrationRefused when this version must not work with it. */
export function judgeMigrations(
  migrations: readonly Migration[],
  applied: readonly Applied[],
  version: string,
): Judged {
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const row of applied) {
    const migration = known.get(row.name);
    if (migration === undefined) refuseUnknown(row, version);
    else if (migration.checksum !== row.checksum)
      throw new MigrationRefused(
        `migration ${row.name} was changed after it was applied: put it back and write a new one`,
      );
  }
  const done = new Set(applied.map(({ name }) => name));
  const last = applied.findLast(({ name }) => known.has(name))?.name ?? '';
  const pending = migrations.filter(({ name }) => !done.has(name));
  const late = pending.find(({ name }) => name < last);
  if (late !== undefined) {
    throw new MigrationRefused(
      `migration ${late.name} sorts before ${last}, which is applied: give it a higher number`,
    );
  }
  return { pending, unknown: applied.filter(({ name }) => !known.has(name)).map(({ name }) => name) };
}

function refuseUnknown({ name, leastVersion, table }: Applied, version: string): void {
  const isAllowed = leastVersion === null ? table === 'schema_additions' : compareVersions(leastVersion, version) <= 0;
  if (isAllowed) return;
  const needed = leastVersion === null ? 'a newer version' : `version ${leastVersion} or newer`;
  throw new MigrationRefused(
    `the database has migration ${name}, after which this version (${version}) must not use it: start ${needed}, or restore a backup from before that migration`,
  );
}

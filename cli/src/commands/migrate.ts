/** `millrace migrate`: brings the database to this version, or says how far it is. */
import process from 'node:process';
import type { MigrationState } from '@millrace/server/migrations';
import { VERSION } from '@millrace/server/version';
import { Command } from 'commander';
import { ENV_FILE, type SettingsOptions, settingsOf } from '../operate/settings.ts';
import { reaching, wordsOf } from '../operate/unreachable.ts';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';

type Options = SettingsOptions & { status?: true; json?: true };

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('bring the database to this version; the control role does the same at its start')
    .option('--status', 'only say what is applied, pending and unknown; exit code 6 unless all is applied')
    .option(...ENV_FILE)
    .option('--json', 'print the result as JSON')
    .action((options: Options) => (options.status ? tellStatus(options) : migrateNow(options)));
  return withExamples(
    command,
    { run: 'millrace migrate --status', shows: 'lists the migrations that are pending, and changes nothing' },
    { run: 'millrace migrate', shows: 'applies them; safe to run again, and from several machines at once' },
  );
}

async function migrateNow(options: Options): Promise<void> {
  const { migrationDatabaseUrl, databaseUrl } = settingsOf(options).control;
  const { migrateDatabase } = await import('@millrace/server/migrations');
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const migrated = await reaching('PostgreSQL', () =>
    migrateDatabase(migrationDatabaseUrl, databaseUrl, {
      onWait: () => say('Another process migrates this database: waiting for it …'),
      onApply: (name) => say(`applying ${name} …`),
    }),
  ).catch(rethrowRefusal);
  const { applied, alreadyThere, unknown } = migrated;
  if (options.json) return print(JSON.stringify({ version: VERSION, ...migrated }));
  print(
    applied.length === 0 ? `nothing to do: ${alreadyThere} migrations are applied` : `applied ${applied.join(', ')}`,
  );
  if (unknown.length > 0)
    print(`A newer version applied ${unknown.join(', ')}; this version (${VERSION}) may work with that.`);
}

function rethrowRefusal(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'MigrationRefused') throw error;
  throw new Failure(wordsOf(error), {
    todo: '`millrace upgrade-check` says which version to run, and in which order.',
  });
}

async function tellStatus(options: Options): Promise<void> {
  const { migrationDatabaseUrl } = settingsOf(options).control;
  const { readMigrationState } = await import('@millrace/server/migrations');
  const status = await reaching('PostgreSQL', () => readMigrationState(migrationDatabaseUrl));
  if (options.json) print(JSON.stringify({ version: VERSION, ...status }));
  else for (const line of linesOf(status)) print(line);
  if (status.refused !== undefined) {
    throw new Failure(status.refused, {
      exit: 'findings',
      todo: 'Control does not use this database with this version; collect and deliver go on without it.',
    });
  }
  if (status.pending.length === 0) return;
  throw new Failure(`${status.pending.length} migrations are pending.`, {
    exit: 'findings',
    todo: 'Run `millrace migrate`, or start a control process of this version: it applies them.',
  });
}

function linesOf({ applied, pending, unknown, leastVersion }: MigrationState): string[] {
  return [
    `version   ${VERSION}`,
    `applied   ${applied.length}${applied.length === 0 ? '' : `, the last is ${applied.at(-1)}`}`,
    ...pending.map((name) => `pending   ${name}`),
    ...unknown.map(
      ({ name, leastVersion: mark }) => `unknown   ${name} (of a newer version, needs ${mark ?? 'a newer version'})`,
    ),
    `oldest version that works with this schema: ${leastVersion}`,
  ];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** `millrace restore`: puts a backup into empty engines, or only checks that it is whole. */
import process from 'node:process';
import { Command } from 'commander';
import { filesOf, type Manifest } from '../operate/backup/manifest.ts';
import { ENV_FILE, type SettingsOptions, settingsOf } from '../operate/settings.ts';
import { withExamples } from '../output/example-of.ts';
import { bytesIn, openSteps } from '../output/steps.ts';

type Options = SettingsOptions & {
  from: string;
  check?: true;
  force?: true;
  natsUrl?: string;
  withoutDatabase?: true;
  json?: true;
};

export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('put a backup into empty engines; stop every Millrace process first')
    .requiredOption('--from <folder>', 'the folder of a finished backup')
    .option('--check', 'only verify that the backup is whole; needs no engine and changes nothing')
    .option('--force', 'delete the streams and tables that are there')
    .option('--nats-url <url>', 'NATS with a user that may restore streams; MILLRACE_NATS_URL when absent')
    .option('--without-database', 'only the streams')
    .option(...ENV_FILE)
    .option('--json', 'print the result as JSON')
    .action((options: Options) => (options.check ? checkOnly(options) : restore(options)));
  return withExamples(
    command,
    { run: 'millrace restore --from backups/monday --check', shows: 'reads every file and compares its checksum' },
    { run: 'millrace restore --from backups/monday', shows: 'restores streams and database into empty engines' },
  );
}

async function checkOnly({ from, json }: Options): Promise<void> {
  const { readWhole } = await import('../operate/backup/restore-backup.ts');
  const manifest = await readWhole(from, openSteps());
  if (json) return print(JSON.stringify({ whole: true, manifest }));
  print(`The backup is whole: ${describe(manifest)}, point ${manifest.point}, by version ${manifest.version}.`);
}

async function restore(options: Options): Promise<void> {
  const { restoreBackup } = await import('../operate/backup/restore-backup.ts');
  const config = settingsOf(options);
  const { manifest, replicas } = await restoreBackup({
    dir: options.from,
    natsUrl: options.natsUrl ?? config.natsUrl,
    natsFiles: options.natsUrl === undefined ? config.natsFiles : {},
    databaseUrl: options.withoutDatabase ? undefined : config.control.migrationDatabaseUrl,
    serviceUrl: config.control.databaseUrl,
    isForced: options.force ?? false,
    progress: openSteps(),
  });
  if (options.json) return print(JSON.stringify({ restored: true, replicas, manifest }));
  const keys = manifest.database?.state.keyIds ?? [];
  print(`restored ${describe(manifest)}, as of ${manifest.point}`);
  if (keys.length > 0)
    print(`Start with the MILLRACE_KEYS of that time: the database was sealed with key ${keys.join(', ')}.`);
  print('Receivers may get deliveries again that they had after that moment, with the same webhook-id.');
}

function describe(manifest: Manifest): string {
  const bytes = filesOf(manifest).reduce((sum, file) => sum + file.bytes, 0);
  return `${manifest.streams.length} streams${manifest.database === null ? '' : ' and the database'}, ${bytesIn(bytes)}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

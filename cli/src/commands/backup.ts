/** `millrace backup`: copies streams and database of a running installation into a folder. */
import process from 'node:process';
import { Command } from 'commander';
import { ENV_FILE, type SettingsOptions, settingsOf } from '../operate/settings.ts';
import { withExamples } from '../output/example-of.ts';
import { bytesIn, openSteps } from '../output/steps.ts';
import { filesOf } from '../operate/backup/manifest.ts';

type Options = SettingsOptions & { to: string; natsUrl?: string; json?: true };

export function backupCommand(): Command {
  const command = new Command('backup')
    .description('copy all streams and the database into a new folder, while everything runs')
    .requiredOption('--to <folder>', 'a new or empty folder; one for each backup')
    .option('--nats-url <url>', 'NATS with a user that may make snapshots; MILLRACE_NATS_URL when absent')
    .option('--without-database', 'only the streams: for a PostgreSQL with backups of its own')
    .option(...ENV_FILE)
    .option('--json', 'print the manifest as JSON')
    .action(async (options: Options & { withoutDatabase?: true }) => {
      const { takeBackup } = await import('../operate/backup/take-backup.ts');
      const config = settingsOf(options);
      const manifest = await takeBackup({
        dir: options.to,
        natsUrl: options.natsUrl ?? config.natsUrl,
        natsFiles: options.natsUrl === undefined ? config.natsFiles : {},
        databaseUrl: options.withoutDatabase ? undefined : config.control.migrationDatabaseUrl,
        progress: openSteps(),
      });
      if (options.json) return void process.stdout.write(`${JSON.stringify(manifest)}\n`);
      const bytes = filesOf(manifest).reduce((sum, file) => sum + file.bytes, 0);
      const lines = [
        `backup of ${manifest.streams.length} streams${manifest.database === null ? '' : ' and the database'} in ${options.to}, ${bytesIn(bytes)}`,
        `point: ${manifest.point}. Everything acknowledged before it is in the backup.`,
        ...manifest.notes,
        'MILLRACE_KEYS is not in it: keep it in your secret store, without it sealed secrets cannot be opened.',
      ];
      process.stdout.write(`${lines.join('\n')}\n`);
    });
  return withExamples(command, {
    run: 'millrace backup --to backups/monday',
    shows: 'writes streams, database and a manifest with checksums there, and says up to which moment it is complete',
  });
}

/** `millrace drill`: shows that a backup can be restored, in engines that are thrown away afterwards. */
import process from 'node:process';
import { Command } from 'commander';
import { readSettings } from '../operate/settings.ts';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';
import { openSteps } from '../output/steps.ts';

type Options = { from: string; natsUrl: string; databaseUrl?: string; force?: true; json?: true };

export function drillCommand(): Command {
  const command = new Command('drill')
    .description('restore a backup into empty throwaway engines and compare the counts')
    .requiredOption('--from <folder>', 'the folder of a finished backup')
    .requiredOption('--nats-url <url>', 'an empty NATS server for the drill, with JetStream')
    .option('--database-url <url>', 'an empty database for the drill. Without it only streams are restored')
    .option('--force', 'delete the streams and tables that are there, those of an earlier drill')
    .option('--json', 'print the comparison as JSON')
    .action(drill);
  return withExamples(command, {
    run: 'millrace drill --from backups/monday --nats-url nats://127.0.0.1:4333 --database-url postgres://127.0.0.1:5433/drill',
    shows: 'says for every stream and table whether the restored count is that of the backup; exit code 6 when not',
  });
}

async function drill({ from, natsUrl, databaseUrl, force, json }: Options): Promise<void> {
  refuseProduction(natsUrl, databaseUrl);
  const { runDrill } = await import('../operate/backup/run-drill.ts');
  const needs = { dir: from, natsUrl, natsFiles: {}, databaseUrl, serviceUrl: databaseUrl, isForced: force ?? false };
  const { manifest, compared, seconds } = await runDrill({ ...needs, progress: openSteps() });
  const wrong = compared.filter(({ expected, found }) => expected !== found);
  if (json)
    process.stdout.write(`${JSON.stringify({ ok: wrong.length === 0, point: manifest.point, seconds, compared })}\n`);
  else {
    for (const { part, expected, found } of compared)
      process.stdout.write(
        `${expected === found ? 'same' : 'DIFFERENT'}  ${part}: ${expected}${expected === found ? '' : `, restored ${found}`}\n`,
      );
    process.stdout.write(`restored as of ${manifest.point} in ${seconds} s\n`);
  }
  if (wrong.length === 0) return;
  throw new Failure(`${wrong.length} of ${compared.length} counts are not those of the backup.`, {
    exit: 'findings',
    todo: 'Do not rely on this backup: take a new one, and run the drill on it.',
  });
}

/** The engines of the settings are not for a drill, also with --force. */
function refuseProduction(natsUrl: string, databaseUrl: string | undefined): void {
  const read = readSettings({}, { MILLRACE_ROLES: 'collect' });
  if (!read.ok) return;
  const { natsUrl: used, control } = read.value;
  const hosts = new Set(hostsOf(used));
  const isShared =
    hostsOf(natsUrl).some((host) => hosts.has(host)) ||
    (databaseUrl !== undefined &&
      [control.databaseUrl, control.migrationDatabaseUrl].some((url) => isSame(url, databaseUrl)));
  if (!isShared) return;
  throw new Failure('A drill needs throwaway engines, and these are the ones that the settings name.', {
    exit: 'usage',
    todo: 'Start other engines for the drill, and name them in --nats-url and --database-url.',
  });
}

function hostsOf(urls: string): string[] {
  return urls
    .split(',')
    .map((url) => (URL.parse(url.includes('://') ? url.trim() : `nats://${url.trim()}`) ?? { host: url }).host);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  return a !== null && b !== null && a.host === b.host && a.pathname === b.pathname;
}

/** `millrace upgrade-check`: run with the new version before it is started; says what to do, in which order. */
import process from 'node:process';
import { Command } from 'commander';
import { judgeUpgrade, type Upgrade } from '../operate/judge-upgrade.ts';
import { ENV_FILE, type SettingsOptions, settingsOf } from '../operate/settings.ts';
import { reaching } from '../operate/unreachable.ts';
import { withExamples } from '../output/example-of.ts';
import { EXIT_CODES } from '../output/exit-codes.ts';
import { Failure } from '../output/failures.ts';

type Options = SettingsOptions & { json?: true };

export function upgradeCheckCommand(): Command {
  const command = new Command('upgrade-check')
    .description(
      'run it with the new version before you start that: compares versions and database, and lists the steps',
    )
    .option(...ENV_FILE)
    .option('--json', 'print the result as JSON')
    .action(async (options: Options) => {
      const config = settingsOf(options);
      const { natsUrl, natsFiles, stream: settings } = config;
      const roles = ['collect', 'deliver', 'control'] as const;
      const [{ readMigrationState }, { inspectNats }] = await Promise.all([
        import('@millrace/server/migrations'),
        import('@millrace/server/nats-facts'),
      ]);
      const nats = await reaching('NATS', () => inspectNats({ natsUrl, natsFiles, roles, settings }));
      const migrations = await reaching('PostgreSQL', () => readMigrationState(config.control.migrationDatabaseUrl));
      const upgrade = judgeUpgrade({ processes: nats.processes, natsRightsMissing: nats.denied.length, migrations });
      process.stdout.write(
        options.json ? `${JSON.stringify({ ...upgrade, migrations })}\n` : `${linesOf(upgrade).join('\n')}\n`,
      );
      if (upgrade.blockers.length > 0)
        throw new Failure('This version must not be started now.', {
          exit: 'findings',
          todo: 'Do what is said above first.',
        });
      if (upgrade.steps.length > 0) process.exitCode = EXIT_CODES.findings.code;
    });
  return withExamples(command, {
    run: 'millrace upgrade-check',
    shows: 'lists the versions that run and the steps that are left; exit code 0 when there is nothing to do',
  });
}

function linesOf({ version, running, blockers, steps, canGoBack }: Upgrade): string[] {
  return [
    `this version    ${version}`,
    ...running.map((each) => `running         ${each.version}: ${each.count} processes, ${each.roles.join(', ')}`),
    ...(running.length === 0 ? ['running         no process was heard'] : []),
    ...blockers.map((blocker) => `BLOCKED         ${blocker}`),
    ...steps.map((step, index) => `${`step ${index + 1}`.padEnd(16)}${step}`),
    ...(steps.length === 0 && blockers.length === 0
      ? ['Nothing to do: every process and the database are of this version.']
      : []),
    canGoBack
      ? 'way back        the versions that run now work with the database of this one: start them again at any time'
      : 'way back        NOT without a backup: the database of this version needs a newer one than those that run now',
  ];
}

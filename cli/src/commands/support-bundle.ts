/** `millrace support-bundle`: one file for the people who help, without secrets. */
import process from 'node:process';
import { Command } from 'commander';
import { openMask, secretsIn } from '../operate/mask.ts';
import { ENV_FILE, environmentOf, readSettings, type SettingsOptions } from '../operate/settings.ts';
import { withExamples } from '../output/example-of.ts';
import { bytesIn, openSteps } from '../output/steps.ts';

type Options = SettingsOptions & { to: string; log: string[]; json?: true };

export function supportBundleCommand(): Command {
  const command = new Command('support-bundle')
    .description(
      'write one .tar.gz with the findings of doctor, masked settings, versions, streams, consumers, metrics and logs',
    )
    .option('--to <file>', 'the file to write', 'millrace-support.tar.gz')
    .option(
      '--log <file>',
      'a log file whose last 4 MB go in; may be given several times',
      (file, all: string[]) => [...all, file],
      [],
    )
    .option(...ENV_FILE)
    .option('--json', 'print {"file", "bytes", "entries"}')
    .action(async (options: Options) => {
      const { makeBundle, writeBundle } = await import('../operate/bundle/make-bundle.ts');
      const progress = openSteps({ isSilent: options.json === true });
      const mask = openMask(secretsIn(environmentOf(options)));
      const needs = { read: readSettings(options), logs: options.log, mask, onStep: progress.step };
      const entries = await makeBundle(needs);
      const bytes = writeBundle(options.to, entries);
      progress.end();
      const names = entries.map(({ name }) => name);
      process.stdout.write(
        options.json
          ? `${JSON.stringify({ file: options.to, bytes, entries: names })}\n`
          : `${options.to}, ${bytesIn(bytes)}: ${names.join(', ')}\nSecrets are masked. Read it before you send it.\n`,
      );
    });
  return withExamples(command, {
    run: 'millrace support-bundle --to support.tar.gz',
    shows: 'writes the bundle; works also while NATS or PostgreSQL are away',
  });
}

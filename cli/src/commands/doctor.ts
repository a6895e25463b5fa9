/** `millrace doctor`: looks at everything that a server needs, and says what is wrong and what to do. */
import process from 'node:process';
import { styleText } from 'node:util';
import { Command } from 'commander';
import type { Finding } from '../operate/doctor/finding.ts';
import { ENV_FILE, readSettings, type SettingsOptions } from '../operate/settings.ts';
import { withExamples } from '../output/example-of.ts';
import { EXIT_CODES } from '../output/exit-codes.ts';
import { openSteps } from '../output/steps.ts';

type Options = SettingsOptions & { data?: string; json?: true };

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description(
      'check settings, machine, NATS, PostgreSQL and mail; says what is wrong, why it matters and what to do',
    )
    .option('--data <folder>', 'also check the room on the disk of this folder, such as the store_dir of NATS')
    .option(...ENV_FILE)
    .option('--json', 'print everything that was looked at as JSON')
    .action(async (options: Options) => {
      const { findingsOf, runDoctor } = await import('../operate/doctor/run-doctor.ts');
      const progress = openSteps({ isSilent: options.json === true });
      const read = readSettings(options);
      const diagnosis = await runDoctor({
        read,
        dataDir: options.data,
        onPart: (part) => progress.step(`checking ${part} …`),
      });
      progress.end();
      const findings = findingsOf(diagnosis);
      if (options.json) process.stdout.write(`${JSON.stringify({ ok: findings.length === 0, ...diagnosis })}\n`);
      else
        process.stdout.write(
          findings.length === 0
            ? `Nothing wrong found in ${diagnosis.parts.map(({ part }) => part).join(', ')}.\n`
            : findings.map(toText).join('\n'),
        );
      if (findings.length > 0) process.exitCode = EXIT_CODES.findings.code;
    });
  return withExamples(command, {
    run: 'millrace doctor',
    shows: 'lists problems and warnings with their remedies; exit code 6 when there are any',
  });
}

/** styleText heeds NO_COLOR and whether standard output is a terminal. */
function toText({ code, level, what, why, todo }: Finding): string {
  const mark = level === 'problem' ? styleText('red', 'PROBLEM') : styleText('yellow', 'warning');
  return `${mark}  ${what} [${code}]\n  why   ${why}\n  do    ${todo}\n`;
}

/** `millrace users reset-link`: the operator's way back into an account when no admin can make a link. */
import { Command } from 'commander';
import { ENV_FILE, type SettingsOptions, settingsOf } from '../operate/settings.ts';
import { reaching } from '../operate/unreachable.ts';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';
import { inline, print, printJson } from '../output/print.ts';

type Options = SettingsOptions & { json?: true };

export function resetLinkCommand(): Command {
  const command = new Command('reset-link')
    .argument('<email>', 'the address of the account')
    .description('make a link to a new password for a person of the console; asks PostgreSQL, not the API')
    .option(...ENV_FILE)
    .option('--json', 'print the result as JSON')
    .action(tellLink);
  return withExamples(command, {
    run: 'millrace users reset-link ann@example.com',
    shows: 'prints a link that works once, for 24 hours; hand it to the person',
  });
}

async function tellLink(email: string, options: Options): Promise<void> {
  const { databaseUrl, consoleUrl } = settingsOf(options).control;
  const { makeResetLink } = await import('@millrace/server/reset-link');
  const made = await reaching('PostgreSQL', () => makeResetLink(databaseUrl, email, new Date()));
  if (made === undefined) {
    throw new Failure(`No account has the address ${inline(email)}.`, {
      exit: 'notFound',
      todo: 'Check the address; an owner sees those of the members under Team.',
    });
  }
  const link = `${consoleUrl ?? ''}${made.path}`;
  if (options.json) return printJson({ link, expiresAt: made.expiresAt.toISOString() });
  print(link);
  if (consoleUrl === undefined) print('Put the address of the console in front of it.');
  print(
    `It works once, until ${made.expiresAt.toISOString()}. The person chooses the password; all their sessions end then.`,
  );
}

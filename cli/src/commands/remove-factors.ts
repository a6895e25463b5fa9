/** `millrace users remove-factors`: the operator's way back for a person who has lost phone, passkeys and recovery codes. */
import { Command } from 'commander';
import { ENV_FILE, type SettingsOptions, settingsOf } from '../operate/settings.ts';
import { reaching } from '../operate/unreachable.ts';
import { withExamples } from '../output/example-of.ts';
import { Failure } from '../output/failures.ts';
import { inline, print, printJson } from '../output/print.ts';
import { confirm } from '../output/prompt.ts';

type Options = SettingsOptions & { json?: true; yes?: true };

export function removeFactorsCommand(): Command {
  const command = new Command('remove-factors')
    .argument('<email>', 'the address of the account')
    .description('remove every second factor of a person of the console; asks PostgreSQL, not the API')
    .option(...ENV_FILE)
    .option('--json', 'print the result as JSON')
    .option('--yes', 'do not ask')
    .action(remove);
  return withExamples(command, {
    run: 'millrace users remove-factors ann@example.com --yes',
    shows: 'ends all sessions of the person, who then signs in with the password alone',
  });
}

async function remove(email: string, options: Options): Promise<void> {
  const { control } = settingsOf(options);
  await confirm(`The account ${inline(email)} will be open to anyone who has its password.`, options);
  const { removeFactors } = await import('@millrace/server/remove-factors');
  const removed = await reaching('PostgreSQL', () => removeFactors(control, email, new Date()));
  if (removed === undefined) {
    throw new Failure(`No account has the address ${inline(email)}.`, {
      exit: 'notFound',
      todo: 'Check the address; an owner sees those of the members under Team.',
    });
  }
  if (options.json) return printJson(removed);
  const { totp, passkeys, recoveryCodes, isTold } = removed;
  print(`Authenticator app: ${totp ? 'removed' : 'none'}. Passkeys: ${passkeys}. Recovery codes: ${recoveryCodes}.`);
  print('All sessions of the person have ended. The audit log of each of their workspaces has an entry.');
  if (!isTold) print('No mail was queued for the person: tell them.');
}

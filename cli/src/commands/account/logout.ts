/** `millrace logout`: forgets a profile, and ends its session. */
import { Command } from 'commander';
import { openControl } from '../../api/control.ts';
import { DEFAULT_PROFILE, profilesFile, readProfiles, writeProfiles } from '../../api/profiles.ts';
import { readEnvironment } from '../../environment.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson, remark } from '../../output/print.ts';

const PATIENCE_MS = 10_000;

export function logoutCommand(): Command {
  const command = new Command('logout')
    .description('end the session of a profile and remove the profile from this machine')
    .option('--profile <name>', 'the profile to remove', DEFAULT_PROFILE)
    .option('--json', 'print {"removed": "<profile>"}')
    .action(logout);
  return withExamples(command, {
    run: 'millrace logout --profile production',
    shows: 'ends the session on the server, and forgets the profile',
  });
}

async function logout({ profile, json }: { profile: string; json?: true }): Promise<void> {
  const file = profilesFile(readEnvironment().configDir);
  const { [profile]: removed, ...others } = await readProfiles(file);
  if (removed === undefined) {
    throw new Failure(`There is no profile ${inline(profile)}.`, {
      exit: 'notFound',
      todo: 'MILLRACE_TOKEN is not a profile: unset it in your shell.',
    });
  }
  const { server, session } = removed;
  if (session !== undefined) {
    const control = openControl({ server, credential: { session }, timeoutMs: PATIENCE_MS });
    await control.ask('DELETE', '/session').catch(() => {
      remark(`${server} could not be told: the session ends by itself after 12 hours without use.`);
    });
  }
  await writeProfiles(file, others);
  if (json) return printJson({ removed: profile });
  print(`The profile "${inline(profile)}" is removed.`);
  if (session === undefined) print('Its API token still works: revoke it in the console if nothing else uses it.');
}

/** The options of every command that asks a server, and the connection that they lead to. */
import { type Command, Option } from 'commander';
import { Failure } from '../output/failures.ts';
import { readEnvironment } from '../environment.ts';
import { type ChosenServer, chooseServer, type ServerOptions } from './choose-server.ts';
import { type Control, openControl } from './control.ts';
import { profilesFile, readProfiles } from './profiles.ts';

const GROUP = 'Server options:';
const DEFAULT_TIMEOUT_SECONDS = 30;

export type { ServerOptions } from './choose-server.ts';

export function withServerOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--server <url>', 'address of the control API; MILLRACE_URL, or that of the profile').helpGroup(GROUP),
    )
    .addOption(
      new Option(
        '--token <token>',
        'API token; better MILLRACE_TOKEN or a profile, which stay out of the process list',
      ).helpGroup(GROUP),
    )
    .addOption(new Option('--profile <name>', 'profile of millrace login, "default" unless given').helpGroup(GROUP))
    .addOption(new Option('--workspace <id>', 'workspace, for members of several').helpGroup(GROUP))
    .addOption(
      new Option('--timeout <seconds>', `how long to wait for an answer (${DEFAULT_TIMEOUT_SECONDS})`).helpGroup(GROUP),
    );
}

/** The connection that the options, the environment and the profiles describe. */
export async function connect(options: ServerOptions): Promise<Control> {
  return openChosen(await findServer(options), options);
}

export async function findServer(options: ServerOptions): Promise<ChosenServer> {
  const environment = readEnvironment();
  const profiles = await readProfiles(profilesFile(environment.configDir));
  return chooseServer(options, { environment, profiles });
}

export function openChosen(chosen: ChosenServer, { timeout }: ServerOptions): Control {
  const { server, credential, workspace } = chosen;
  if (credential === undefined) {
    throw new Failure(`You are not signed in to ${server}.`, {
      exit: 'refused',
      todo: `Sign in with millrace login --server ${server}, or set MILLRACE_URL and MILLRACE_TOKEN.`,
    });
  }
  return openControl({ server, credential, workspace, timeoutMs: timeoutMs(timeout) });
}

export function timeoutMs(text: string | undefined): number {
  if (text === undefined) return DEFAULT_TIMEOUT_SECONDS * 1_000;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= 86_400) return seconds * 1_000;
  throw new Failure(`--timeout ${text} is no number of seconds.`, { exit: 'usage', todo: 'Give one such as 30.' });
}

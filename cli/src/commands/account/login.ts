/** `millrace login`: saves a profile for the commands that ask a server. */
import type { Me } from '@millrace/contract/control';
import process from 'node:process';
import { Command } from 'commander';
import { serverAddress } from '../../api/choose-server.ts';
import { DEFAULT_PROFILE, profilesFile, readProfiles, writeProfiles } from '../../api/profiles.ts';
import { timeoutMs } from '../../api/server-options.ts';
import { isExposed, type SignedIn, signInWithPassword, signInWithToken } from '../../api/sign-in.ts';
import { readEnvironment } from '../../environment.ts';
import { withExamples } from '../../output/example-of.ts';
import { Failure } from '../../output/failures.ts';
import { inline, print, printJson, remark } from '../../output/print.ts';
import { hiddenQuestion, question, secretFromInput } from '../../output/prompt.ts';
import { tellMe } from './whoami.ts';

type LoginOptions = {
  server?: string;
  profile: string;
  workspace?: string;
  collect?: string;
  email?: string;
  withToken?: true;
  timeout?: string;
  json?: true;
};

const DEFAULT_SERVER = 'http://localhost:8081';

export function loginCommand(): Command {
  const command = new Command('login')
    .description(
      'sign in to a server with a password, or with an API token on standard input, and save it as a profile',
    )
    .option('--server <url>', `address of the control API or the console; MILLRACE_URL, or ${DEFAULT_SERVER}`)
    .option('--email <address>', 'sign in with a password: asked for on the terminal, or read from standard input')
    .option('--with-token', 'read an API token from standard input')
    .option('--profile <name>', 'name of the profile to save', DEFAULT_PROFILE)
    .option('--workspace <id>', 'workspace of the profile, for members of several')
    .option('--collect <url>', 'address of the collection API, for millrace send')
    .option('--timeout <seconds>', 'how long to wait for an answer (30)')
    .option('--json', 'print the account as JSON')
    .action(login);
  return withExamples(
    command,
    {
      run: 'echo "$MILLRACE_TOKEN" | millrace login --with-token --server "$MILLRACE_URL"',
      shows: 'checks the token, and saves it as the default profile, which only you can read',
    },
    {
      run: 'millrace login --email ann@example.com --profile production < password.txt',
      shows: 'signs in with a password; without the file it asks for it, and does not show it',
    },
  );
}

async function login(options: LoginOptions): Promise<void> {
  const environment = readEnvironment();
  const file = profilesFile(environment.configDir);
  const profiles = await readProfiles(file);
  const known = Object.hasOwn(profiles, options.profile) ? profiles[options.profile] : undefined;
  const server = serverAddress(options.server ?? environment.server ?? known?.server ?? DEFAULT_SERVER);
  if (isExposed(server)) remark(`Warning: ${server} has no TLS, so others on the network can read your credentials.`);
  const { credential, me } = await signIn(server, options);
  const workspace = await chooseWorkspace(me, options.workspace);
  const profile = { server, ...(options.collect === undefined ? {} : { collect: serverAddress(options.collect) }) };
  const isOneOfMany = me.workspaces.length > 1;
  const saved = { ...profile, ...credential, ...(isOneOfMany ? { workspace } : {}) };
  await writeProfiles(file, { ...profiles, [options.profile]: saved });
  if (options.json) return printJson(me);
  print(`${tellMe(me, workspace)} on ${server}.`);
  print(`The profile "${inline(options.profile)}" is in ${file}; only you can read it.`);
}

async function signIn(server: string, { email, withToken, timeout }: LoginOptions): Promise<SignedIn> {
  const where = { server, timeoutMs: timeoutMs(timeout) };
  const isTerminal = process.stdin.isTTY;
  if (withToken || (email === undefined && !isTerminal)) {
    const token = isTerminal ? await hiddenQuestion('API token: ') : await secretFromInput();
    return signInWithToken(where, token.trim());
  }
  const address = email ?? (await question('Email address: '));
  const password = isTerminal ? await hiddenQuestion('Password: ') : await secretFromInput();
  const askCode = () => hiddenQuestion('Code of your authenticator app, or a recovery code: ');
  return signInWithPassword(where, { email: address, password }, isTerminal ? askCode : undefined);
}

/** A member of several workspaces chooses one; the commands then need not name it. */
async function chooseWorkspace({ workspaces }: Me, given: string | undefined): Promise<string> {
  const [first] = workspaces;
  if (given === undefined && workspaces.length === 1 && first !== undefined) return first.id;
  const listed = workspaces.map(({ id, name }) => `${id} (${inline(name)})`).join(', ');
  const wanted = given ?? (process.stdin.isTTY ? await question(`Workspace, of ${listed}: `) : undefined);
  const chosen = workspaces.find(({ id, name }) => id === wanted || name === wanted);
  if (chosen !== undefined) return chosen.id;
  if (workspaces.length === 0) {
    throw new Failure('This account is in no workspace.', { exit: 'refused', todo: 'Ask an owner to invite you.' });
  }
  const what = wanted === undefined ? 'You are in several workspaces.' : `You are in no workspace ${inline(wanted)}.`;
  throw new Failure(what, { exit: 'usage', todo: `Name one with --workspace: ${listed}.` });
}

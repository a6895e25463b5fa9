/**
 * Decides which server a command asks, and as whom: options win over a profile named by option, which wins over the environment,
 * which wins over the default profile. A credential of a profile never goes to another server than the profile's, and the token of the
 * environment only to the server of the environment, or to the one that `--server` names where the environment has none.
 */
import { Failure } from '../output/failures.ts';
import type { Environment } from '../environment.ts';
import { DEFAULT_PROFILE, type Profiles } from './profiles.ts';

export type ServerOptions = {
  server?: string;
  token?: string;
  profile?: string;
  workspace?: string;
  timeout?: string;
};

export type Credential = { token: string } | { session: string };

export type ChosenServer = {
  server: string;
  /** Undefined where the command has to sign in first. */
  credential: Credential | undefined;
  workspace: string | undefined;
  collect: string | undefined;
};

type Known = { environment: Environment; profiles: Profiles };

export function chooseServer(options: ServerOptions, { environment, profiles }: Known): ChosenServer {
  const name = options.profile ?? DEFAULT_PROFILE;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (options.profile !== undefined && profile === undefined) throw noProfile(options.profile, profiles);
  const isNamed = options.profile !== undefined;
  const server = options.server ?? (isNamed ? profile?.server : environment.server) ?? profile?.server;
  if (server === undefined) {
    throw new Failure('There is no server to ask.', {
      exit: 'usage',
      todo: 'Sign in with millrace login --server http://localhost:8081, or set MILLRACE_URL and MILLRACE_TOKEN.',
    });
  }
  const address = serverAddress(server);
  const own = profile !== undefined && profile.server === address ? profile : undefined;
  const token = options.token ?? (isNamed ? undefined : environmentToken(address, options, environment));
  return {
    server: address,
    credential: token === undefined ? credentialOf(own) : { token },
    workspace: options.workspace ?? own?.workspace,
    collect: own?.collect ?? environmentCollect(options, environment),
  };
}

function environmentToken(address: string, options: ServerOptions, { server, token }: Environment): string | undefined {
  if (token === undefined) return undefined;
  const isMeant = server === undefined ? options.server !== undefined : serverAddress(server) === address;
  return isMeant ? token : undefined;
}

/** The environment's collect belongs to the environment's server: an option that names another server leaves it out. */
export function environmentCollect(options: ServerOptions, { collect }: Environment): string | undefined {
  return options.server === undefined && options.profile === undefined ? collect : undefined;
}

/** An address without a path: the commands add `/api/v1` themselves. */
export function serverAddress(text: string): string {
  const isAddress = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isAddress) {
    throw new Failure(`${text} is no address of a server.`, {
      exit: 'usage',
      todo: 'Give the address of the control API or the console, such as https://millrace.example.com or http://localhost:8081.',
    });
  }
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}`;
}

function credentialOf(profile: { token?: string; session?: string } | undefined): Credential | undefined {
  if (profile?.token !== undefined) return { token: profile.token };
  return profile?.session === undefined ? undefined : { session: profile.session };
}

function noProfile(name: string, profiles: Profiles): Failure {
  const names = Object.keys(profiles).join(', ');
  return new Failure(`There is no profile ${name}.`, {
    exit: 'usage',
    todo: names === '' ? 'Make one with millrace login --profile NAME.' : `There are: ${names}.`,
  });
}

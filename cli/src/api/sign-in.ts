/** Signing in: a password gives a session, a token is used as it is. Both are tried before they are saved. */
import type { Me, SecondFactorAsked } from '@millrace/contract/control';
import { Failure } from '../output/failures.ts';
import type { Credential } from './choose-server.ts';
import { openControl } from './control.ts';

export type SignedIn = { credential: Credential; me: Me };

type Where = { server: string; timeoutMs: number };

export async function signInWithToken({ server, timeoutMs }: Where, token: string): Promise<SignedIn> {
  if (!/^[\x21-\x7e]{8,}$/.test(token)) {
    throw new Failure('Standard input holds no API token.', {
      exit: 'usage',
      todo: 'Pipe one in, such as mlr_…; an owner or admin makes it in the console under Team, or with POST /api/v1/tokens.',
    });
  }
  const credential = { token };
  return { credential, me: await whoIs({ server, timeoutMs }, credential) };
}

/** `askCode` asks the person for a second factor; undefined where there is no terminal. */
export async function signInWithPassword(
  { server, timeoutMs }: Where,
  account: { email: string; password: string },
  askCode?: () => Promise<string>,
): Promise<SignedIn> {
  const first = await openControl({ server, timeoutMs }).send('POST', '/session', { body: account });
  const response = first.status === 202 ? await giveCode({ server, timeoutMs }, first, askCode) : first;
  const session = cookieIn(response, '__Host-millrace');
  if (session === undefined) {
    throw new Failure(`${server} accepted the password and gave no session.`, {
      todo: 'A proxy may have removed the cookie: ask the control API without it, or use an API token.',
    });
  }
  const credential = { session };
  return { credential, me: await whoIs({ server, timeoutMs }, credential) };
}

/** A terminal has no passkeys: it takes the code of an app, or a recovery code. */
async function giveCode(where: Where, first: Response, askCode?: () => Promise<string>): Promise<Response> {
  const { ways } = (await first.json()) as SecondFactorAsked;
  const ticket = cookieIn(first, '__Host-millrace-sign-in') ?? '';
  if (askCode === undefined || !ways.some((way) => way !== 'passkey')) {
    throw new Failure('The account has a second factor, which cannot be given here.', {
      exit: 'refused',
      todo: 'Sign in on a terminal with a code of your app or a recovery code, or use an API token.',
    });
  }
  const typed = (await askCode()).trim();
  const body = /^\d{3} ?\d{3}$/.test(typed) ? { code: typed.replace(' ', '') } : { recoveryCode: typed };
  return openControl({ ...where, ticket }).send('POST', '/session/second-factor', { body });
}

function whoIs({ server, timeoutMs }: Where, credential: Credential): Promise<Me> {
  return openControl({ server, credential, timeoutMs }).ask<Me>('GET', '/me');
}

function cookieIn({ headers }: Response, name: string): string | undefined {
  const cookie = headers.getSetCookie().find((each) => each.startsWith(`${name}=`));
  const value = cookie?.slice(name.length + 1).split(';')[0];
  return value === '' ? undefined : value;
}

/** Without TLS every machine between here and the server can read the credential; loopback has none in between. */
export function isExposed(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

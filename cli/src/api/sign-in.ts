/** Signing in: a password gives a session, a token is used as it is. Both are tried before they are saved. */
import type { Me } from '@millrace/contract/control';
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

export async function signInWithPassword(
  { server, timeoutMs }: Where,
  account: { email: string; password: string },
): Promise<SignedIn> {
  const response = await openControl({ server, timeoutMs }).send('POST', '/session', { body: account });
  const session = sessionIn(response.headers.getSetCookie());
  if (session === undefined) {
    throw new Failure(`${server} accepted the password and gave no session.`, {
      todo: 'A proxy may have removed the cookie: ask the control API without it, or use an API token.',
    });
  }
  const credential = { session };
  return { credential, me: await whoIs({ server, timeoutMs }, credential) };
}

function whoIs({ server, timeoutMs }: Where, credential: Credential): Promise<Me> {
  return openControl({ server, credential, timeoutMs }).ask<Me>('GET', '/me');
}

function sessionIn(cookies: readonly string[]): string | undefined {
  return cookies.map((cookie) => /^__Host-millrace=([^;]+)/.exec(cookie)?.[1]).find((value) => value !== undefined);
}

/** Without TLS every machine between here and the server can read the credential; loopback has none in between. */
export function isExposed(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

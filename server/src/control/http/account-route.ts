import type { Static, TSchema } from 'typebox';
import type { Identity } from '../access/authenticate.ts';
import type { ControlNeeds } from './control-needs.ts';
import type { FailureLog } from '../access/failure-log.ts';
import type { SignInGuard } from '../access/guard-sign-in.ts';
import type { TryLimiter } from '../access/limit-tries.ts';
import type { Recovery } from '../mail/open-recovery.ts';
import type { ApiUrl, Method, Params } from './route.ts';

/** A request that is about no workspace. */
export type Visit<Path = unknown, Body = unknown, Who = Identity | undefined> = {
  who: Who;
  bearer: string | undefined;
  address: string;
  userAgent: string;
  /** The cookie of a browser that has signed in before, as it was sent. */
  device: string | undefined;
  /** The cookie of a sign-in under way, as it was sent. */
  ticket: string | undefined;
  /** The cookie of a browser that has begun to sign in at a provider. */
  browser: string | undefined;
  params: Path;
  body: Body;
};

export type AccountNeeds = ControlNeeds & {
  tries: TryLimiter;
  guard: SignInGuard;
  failures: FailureLog;
  /** Mails links after the request was answered. */
  recovery: Pick<Recovery, 'ask'>;
};

/**
 * `session`: the secret of a new session for the browser to keep, or null to make it forget the one it has. `device`: the cookie by
 * which this browser is known from now on. `ticket`: the cookie of a sign-in under way, or null to make the browser forget it.
 * `browser`: the cookie by which it is known while it signs in at a provider.
 */
export type AccountAnswer = {
  body?: unknown;
  session?: string | null;
  device?: string;
  ticket?: string | null;
  browser?: string;
  /** The answer is the other one of the route. */
  isOther?: boolean;
};

/** An endpoint about the user rather than a workspace: signing in and out, sessions, the first start. */
export type AccountRoute = {
  method: Method;
  url: ApiUrl;
  summary: string;
  /** `user`: signed in with a password; a token has no sessions. */
  access: 'anybody' | 'signed-in' | 'user';
  /** Also for sessions of single sign-on, which change no account. */
  allowsBound?: boolean;
  body?: TSchema;
  answer?: TSchema;
  status: 200 | 201 | 202 | 204;
  /** A second answer that is no problem: the work goes on with another request. */
  other?: { status: 202; answer: TSchema };
  handle(visit: Visit<never, never, never>, needs: AccountNeeds): Promise<AccountAnswer>;
};

type Who = { anybody: Identity | undefined; 'signed-in': Identity; user: Extract<Identity, { kind: 'user' }> };

type Typed<Url extends ApiUrl, Access extends keyof Who, Body extends TSchema> = Omit<
  AccountRoute,
  'url' | 'access' | 'body' | 'handle'
> & {
  url: Url;
  access: Access;
  body?: Body;
  handle(visit: Visit<Params<Url>, Static<Body>, Who[Access]>, needs: AccountNeeds): Promise<AccountAnswer>;
};

/** Gives the handler the types of its url, its schema and its access. */
export function accountRoute<Url extends ApiUrl, Access extends keyof Who, Body extends TSchema>(
  definition: Typed<Url, Access, Body>,
): AccountRoute {
  return definition;
}

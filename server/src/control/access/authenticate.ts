import { type MemberRow, membershipsOf } from '../../store/members.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import { deleteSession, useSession } from '../../store/sessions.ts';
import { type TokenRow, useToken } from '../../store/tokens.ts';
import type { Actor } from './actor.ts';
import { browserOf } from './browser-of.ts';
import { roleNow } from './maker-rights.ts';
import type { RoleName } from './permissions.ts';
import { ApiProblem, found } from '../problems/problems.ts';
import { hashOfSecret, isWellFormedSecret } from './secret-text.ts';
import { recordForUser } from './start-session.ts';

export type Identity =
  /** `boundTo`: the session was started by single sign-on, and opens this workspace alone. */
  { kind: 'user'; userId: string; sessionId: string; boundTo?: string } | { kind: 'token'; token: TokenRow };

export type Credentials = { bearer: string | undefined; sessionSecret: string | undefined };
/** Where the request came from, and the browser that sent it. */
type Sender = { address: string; userAgent: string; at: Date };

/** Authenticates the sender. A request with a token is judged by the token alone: its cookies are ignored. */
export async function identify(
  { bearer, sessionSecret }: Credentials,
  sender: Sender,
  store: Store,
): Promise<Identity> {
  const identity =
    bearer === undefined
      ? await identifySession(sessionSecret, sender, store)
      : await identifyToken(bearer, sender, store);
  if (identity === undefined) throw new ApiProblem('not_signed_in');
  return identity;
}

/** The token of `Authorization: Bearer <token>`; undefined without the header. */
export function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const match = /^Bearer +([\x21-\x7e]{1,500})$/i.exec(authorization);
  if (match === null) throw new ApiProblem('not_signed_in');
  return match[1];
}

async function identifyToken(secret: string, { address }: Sender, store: Store): Promise<Identity | undefined> {
  // A mistyped token of ours is known as such without a look-up; the bootstrap token has whatever form its owner chose.
  if (secret.startsWith('mlr_') && !isWellFormedSecret('mlr', secret)) return undefined;
  const token = await store.asSystem(async (tx) => withRoleNow(tx, await useToken(tx, hashOfSecret(secret), address)));
  return token === undefined ? undefined : { kind: 'token', token };
}

/** The token with the rights that its makers have now; undefined when it, or one of its makers, has ended. */
export async function withRoleNow(tx: Tx, token: TokenRow | undefined): Promise<TokenRow | undefined> {
  if (token?.ends_with_maker !== true) return token;
  const { workspace_id: workspaceId, created_by: createdBy } = token;
  const role = await roleNow(tx, { workspaceId, createdBy, role: token.role as RoleName });
  return role === undefined ? undefined : { ...token, role };
}

async function identifySession(
  secret: string | undefined,
  sender: Sender,
  store: Store,
): Promise<Identity | undefined> {
  if (secret === undefined || !isWellFormedSecret('mls', secret)) return undefined;
  const { address, at } = sender;
  const browser = browserOf(sender.userAgent);
  return store.asSystem<Identity | undefined>(async (tx) => {
    const session = await useSession(tx, hashOfSecret(secret), { address, browser });
    if (session === undefined) return undefined;
    const { id: sessionId, user_id: userId } = session;
    const bound = session.bound_to === null ? {} : { boundTo: session.bound_to };
    if (session.browser === browser) return { kind: 'user', userId, sessionId, ...bound };
    // A cookie in another browser was copied there: the session ends for both.
    await deleteSession(tx, { id: sessionId, userId });
    await recordForUser(tx, { userId, sessionId, address, ...bound }, 'session.misused', at);
    return undefined;
  });
}

export type From = {
  /** The header `Millrace-Workspace`; optional for a user who is in one workspace only. */
  workspaceId: string | undefined;
  address: string;
};

/** The identity in one workspace. A workspace of others gets the same answer as one that does not exist. */
export async function actorIn(identity: Identity, from: From, store: Store): Promise<Actor> {
  return identity.kind === 'token' ? tokenActor(identity.token, from) : userActor(identity, from, store);
}

function tokenActor(token: TokenRow, { workspaceId, address }: From): Actor {
  if (workspaceId !== undefined && workspaceId !== token.workspace_id) throw new ApiProblem('not_found');
  const scopes = token.scopes === null ? {} : { scopes: token.scopes };
  const { id, workspace_id } = token;
  return { kind: 'token', id, workspaceId: workspace_id, role: token.role as RoleName, ...scopes, address };
}

/** Whether the member reaches the workspace by its provider alone. */
export function needsSingleSignOn({ requires_sso, break_glass }: MemberRow): boolean {
  return requires_sso && !break_glass;
}

async function userActor(
  { userId, sessionId, boundTo }: Extract<Identity, { kind: 'user' }>,
  { workspaceId, address }: From,
  store: Store,
): Promise<Actor> {
  const all = await store.asSystem((tx) => membershipsOf(tx, userId));
  const memberships = all.filter((each) => boundTo === undefined || each.workspace_id === boundTo);
  if (workspaceId === undefined && memberships.length > 1) throw new ApiProblem('workspace_required');
  if (memberships.length === 0) throw new ApiProblem('not_allowed');
  const member = found(memberships.find((each) => workspaceId === undefined || each.workspace_id === workspaceId));
  if (boundTo === undefined && needsSingleSignOn(member)) throw new ApiProblem('sso_required');
  if (boundTo === undefined && member.needs_second_factor && !member.has_second_factor) {
    const message = 'the workspace demands a second factor of its members: add one under your profile';
    throw new ApiProblem('second_factor_needed', [{ path: '/', message }]);
  }
  return {
    kind: 'user',
    id: userId,
    sessionId,
    ...(boundTo === undefined ? {} : { isBound: true }),
    workspaceId: member.workspace_id,
    role: member.role as RoleName,
    address,
  };
}

import { appendAudit } from '../../store/audit-log.ts';
import { membershipsOf } from '../../store/members.ts';
import type { Tx } from '../../store/open-store.ts';
import { insertSession, keepLatestSessions } from '../../store/sessions.ts';
import { newId } from '../../store/new-id.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import { browserOf } from './browser-of.ts';
import { makeDevice } from './device-cookie.ts';
import { hashOfSecret, makeSecret } from './secret-text.ts';
import { SESSION_DAYS } from './session-cookie.ts';

/** A break-glass owner signed in without the provider. */
const BREAK_GLASS = 'break_glass.used';

/** A new session ends those beyond this number, the one unused longest first. */
export const MAX_SESSIONS = 20;

type Sender = {
  address: string;
  userAgent: string;
  /** Set by single sign-on: the session opens this workspace alone. */
  bound?: { workspaceId: string; signOutUrl: string | null };
};

/** The end of every sign-in, after all that was asked for is proven: a session, and the cookie by which the browser is known from now on. */
export async function finishSignIn(
  tx: Tx,
  user: { id: string; email: string },
  from: Sender,
  { keyRing, now }: { keyRing: KeyRing; now(): Date },
): Promise<{ session: string; device: string }> {
  const session = await startSession(tx, user.id, from, now());
  return { session, device: makeDevice(keyRing, user.email, now()) };
}

/** The secret goes to the browser; only its hash stays here. */
export async function startSession(
  tx: Tx,
  userId: string,
  { address, userAgent, bound }: Sender,
  now: Date,
): Promise<string> {
  const id = newId('ses');
  const secret = makeSecret('mls');
  const expiresAt = new Date(now.getTime() + SESSION_DAYS * 86_400_000);
  const browser = browserOf(userAgent);
  const boundTo = bound?.workspaceId ?? null;
  const secretHash = hashOfSecret(secret);
  const signOutUrl = bound?.signOutUrl ?? null;
  await insertSession(tx, { id, userId, secretHash, address, userAgent, browser, expiresAt, boundTo, signOutUrl });
  await keepLatestSessions(tx, { userId, boundTo }, MAX_SESSIONS);
  const about = { userId, sessionId: id, address, ...(bound && { boundTo: bound.workspaceId }) };
  await recordForUser(tx, about, 'session.started', now);
  return secret;
}

type AboutUser = { userId: string; sessionId: string; address: string; boundTo?: string | undefined };

/**
 * Writes a change of a user's account to the audit log of every workspace that they are in; a session of single sign-on is the
 * business of its workspace alone.
 */
export async function recordForUser(
  tx: Tx,
  { userId, sessionId, address, boundTo }: AboutUser,
  action: string,
  at: Date,
): Promise<void> {
  const actor = { kind: 'user', id: userId, sessionId, address };
  const memberships = await membershipsOf(tx, userId);
  // Always in the same order: each entry locks its workspace's log.
  const concerned = memberships.toSorted((one, other) => (one.workspace_id < other.workspace_id ? -1 : 1));
  for (const { workspace_id: workspaceId, requires_sso, break_glass } of concerned) {
    if (boundTo !== undefined && workspaceId !== boundTo) continue;
    const isBreakGlass = action === 'session.started' && boundTo === undefined && requires_sso && break_glass;
    const details = boundTo === undefined ? {} : { singleSignOn: true };
    await appendAudit(tx, workspaceId, { at, actor, action, objectId: userId, details });
    if (isBreakGlass)
      await appendAudit(tx, workspaceId, { at, actor, action: BREAK_GLASS, objectId: userId, details: {} });
  }
}

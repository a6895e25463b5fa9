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

/** A new session ends those beyond this number, the one unused longest first. */
export const MAX_SESSIONS = 20;

type From = { address: string; userAgent: string };

/** The end of every sign-in, after all that was asked for is proven: a session, and the cookie by which the browser is known from now on. */
export async function finishSignIn(
  tx: Tx,
  user: { id: string; email: string },
  from: From,
  { keyRing, now }: { keyRing: KeyRing; now(): Date },
): Promise<{ session: string; device: string }> {
  const session = await startSession(tx, user.id, from, now());
  return { session, device: makeDevice(keyRing, user.email, now()) };
}

/** The secret goes to the browser; only its hash stays here. */
export async function startSession(tx: Tx, userId: string, { address, userAgent }: From, now: Date): Promise<string> {
  const id = newId('ses');
  const secret = makeSecret('mls');
  const expiresAt = new Date(now.getTime() + SESSION_DAYS * 86_400_000);
  const browser = browserOf(userAgent);
  await insertSession(tx, { id, userId, secretHash: hashOfSecret(secret), address, userAgent, browser, expiresAt });
  await keepLatestSessions(tx, userId, MAX_SESSIONS);
  await recordForUser(tx, { userId, sessionId: id, address }, 'session.started', now);
  return secret;
}

/** Writes a change of a user's account to the audit log of every workspace that they are in. */
export async function recordForUser(
  tx: Tx,
  { userId, sessionId, address }: { userId: string; sessionId: string; address: string },
  action: string,
  at: Date,
): Promise<void> {
  const actor = { kind: 'user', id: userId, sessionId, address };
  const memberships = await membershipsOf(tx, userId);
  // Always in the same order: each entry locks its workspace's log.
  const workspaceIds = memberships.map((member) => member.workspace_id).toSorted();
  for (const workspaceId of workspaceIds) {
    await appendAudit(tx, workspaceId, { at, actor, action, objectId: userId, details: {} });
  }
}

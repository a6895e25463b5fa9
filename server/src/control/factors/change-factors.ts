/** The steps around every change of an account's factors. */
import type { KeyRing } from '../../secrets/seal.ts';
import type { Tx } from '../../store/open-store.ts';
import { deleteRecoveryCodes } from '../../store/recovery-codes.ts';
import { countFactors, lockFactors } from '../../store/second-factors.ts';
import { confirmedUntil, deleteOtherSessions } from '../../store/sessions.ts';
import { deleteTicketsOf } from '../../store/sign-in-tickets.ts';
import { findUser } from '../../store/users.ts';
import { auditAccount } from '../access/audit-account.ts';
import type { MailNeeds } from '../mail/add-mail.ts';
import { tellAccount } from '../mail/tell-account.ts';
import type { NoticeKind } from '../mail/write-mail.ts';
import { ApiProblem, found } from '../problems/problems.ts';
import { renewRecoveryCodes } from './recovery-codes.ts';

export type FactorOwner = { userId: string; sessionId: string; address: string };
export type ChangeNeeds = { keyRing: KeyRing; mail?: MailNeeds; now(): Date };

/**
 * Throws unless the person has confirmed in this session; then no other change of the account's factors runs beside this one. Sign-ins under way
 * end first: they lock their ticket before the factor, and the change has to lock in the same order.
 */
export async function beginChange(tx: Tx, { userId, sessionId }: FactorOwner): Promise<void> {
  if ((await confirmedUntil(tx, sessionId)) === null) throw new ApiProblem('confirm_first');
  await lockFactors(tx, userId);
  await deleteTicketsOf(tx, userId);
}

type Change = { action: string; details?: Record<string, unknown>; notice: NoticeKind };

/** Ends the other sessions, writes the audit log and tells the owner. */
export async function finishChange(tx: Tx, by: FactorOwner, change: Change, needs: ChangeNeeds): Promise<void> {
  const { userId, sessionId, address } = by;
  const { action, details = {}, notice } = change;
  await deleteOtherSessions(tx, { id: sessionId, userId });
  const actor = { kind: 'user', id: userId, sessionId, address } as const;
  await auditAccount(tx, userId, { at: needs.now(), actor, action, details });
  const { email } = found(await findUser(tx, userId));
  await tellAccount(tx, { to: email, kind: notice }, needs);
}

/** The codes for an account whose first factor this is; null for one that has some. */
export async function firstRecoveryCodes(tx: Tx, userId: string): Promise<string[] | null> {
  const { recovery_codes } = await countFactors(tx, userId);
  return recovery_codes > 0 ? null : renewRecoveryCodes(tx, userId);
}

/** An account without a factor has no use for recovery codes. */
export async function dropUnusedCodes(tx: Tx, userId: string): Promise<void> {
  const { has_totp, passkeys } = await countFactors(tx, userId);
  if (!has_totp && passkeys === 0) await deleteRecoveryCodes(tx, userId);
}

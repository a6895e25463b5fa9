/** For `millrace users remove-factors`: the operator's way back for a person who has lost every factor. */
import { openKeyRing } from '../../secrets/seal.ts';
import { openStore } from '../../store/open-store.ts';
import { countFactors, deleteFactors } from '../../store/second-factors.ts';
import { deleteOtherSessions } from '../../store/sessions.ts';
import { findUserByEmail } from '../../store/users.ts';
import { auditAccount } from '../access/audit-account.ts';
import { tellAccount } from '../mail/tell-account.ts';

export type RemovedFactors = {
  totp: boolean;
  passkeys: number;
  recoveryCodes: number;
  /** A mail to the person waits to be sent by control. */
  isTold: boolean;
};
export type RemovalSettings = {
  databaseUrl: string;
  /** They seal the mail; an operator may run the command without them. */
  keys: ReadonlyMap<number, Buffer>;
  consoleUrl?: string | undefined;
  smtp?: unknown;
};

/** Undefined when no account has the address. All its sessions end: the person signs in with the password alone. */
export async function removeFactors(
  { databaseUrl, keys, consoleUrl, smtp }: RemovalSettings,
  email: string,
  now: Date,
): Promise<RemovedFactors | undefined> {
  await using store = await openStore(databaseUrl);
  const isTold = smtp !== undefined && consoleUrl !== undefined && keys.size > 0;
  const removed = await store.asSystem(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (user === undefined) return undefined;
    const { has_totp: totp, passkeys, recovery_codes: recoveryCodes } = await countFactors(tx, user.id);
    await deleteFactors(tx, user.id);
    await deleteOtherSessions(tx, { id: '', userId: user.id });
    const details = { totp, passkeys, recoveryCodes };
    const actor = { kind: 'operator' } as const;
    await auditAccount(tx, user.id, { at: now, actor, action: 'second_factors.removed', details });
    if (isTold) {
      const needs = { keyRing: openKeyRing(keys), mail: { consoleUrl }, now: () => now };
      await tellAccount(tx, { to: user.email, kind: 'factors_removed' }, needs);
    }
    return { ...details, isTold };
  });
  return removed;
}

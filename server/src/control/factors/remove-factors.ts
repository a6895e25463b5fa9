/** For `millrace users remove-factors`: the operator's way back for a person who has lost every factor. */
import { openKeyRing } from '../../secrets/seal.ts';
import { openStore } from '../../store/open-store.ts';
import { countFactors, deleteFactors } from '../../store/second-factors.ts';
import { deleteOtherSessions } from '../../store/sessions.ts';
import { findUserByEmail } from '../../store/users.ts';
import { auditAccount } from '../access/audit-account.ts';
import { tellAccount } from '../mail/tell-account.ts';

export type RemovedFactors = { totp: boolean; passkeys: number; recoveryCodes: number };
export type RemovalSettings = {
  databaseUrl: string;
  keys: ReadonlyMap<number, Buffer>;
  /** Set where the installation sends mail: control sends the notice. */
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
  const mail = smtp === undefined || consoleUrl === undefined ? {} : { mail: { consoleUrl } };
  const removed = await store.asSystem(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (user === undefined) return undefined;
    const { has_totp: totp, passkeys, recovery_codes: recoveryCodes } = await countFactors(tx, user.id);
    await deleteFactors(tx, user.id);
    await deleteOtherSessions(tx, { id: '', userId: user.id });
    const details = { totp, passkeys, recoveryCodes };
    const actor = { kind: 'operator' } as const;
    await auditAccount(tx, user.id, { at: now, actor, action: 'second_factors.removed', details });
    if (totp || passkeys > 0) {
      const needs = { keyRing: openKeyRing(keys), ...mail, now: () => now };
      await tellAccount(tx, { to: user.email, kind: 'factors_removed' }, needs);
    }
    return details;
  });
  return removed;
}

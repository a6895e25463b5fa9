/** For `millrace users reset-link`: the operator's way back into an account when no admin can make a link. */
import { openStore } from '../../store/open-store.ts';
import { findUserByEmail } from '../../store/users.ts';
import { auditAccount } from '../access/audit-account.ts';
import { HANDED_OVER_MS, type MadeLink, makeAccountLink } from './account-link.ts';

/** Undefined when no account has the address. */
export async function makeResetLink(databaseUrl: string, email: string, now: Date): Promise<MadeLink | undefined> {
  await using store = await openStore(databaseUrl);
  const made = await store.asSystem(async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (user === undefined) return undefined;
    const asked = { kind: 'password', userId: user.id, createdBy: 'operator', validMs: HANDED_OVER_MS } as const;
    const link = await makeAccountLink(tx, asked, now);
    await auditAccount(tx, user.id, { at: now, actor: { kind: 'operator' }, action: 'password.link_made' });
    return link;
  });
  return made;
}

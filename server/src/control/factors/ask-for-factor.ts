import type { SecondFactorAsked } from '@millrace/contract/control';
import type { KeyRing } from '../../secrets/seal.ts';
import type { Tx } from '../../store/open-store.ts';
import { listPasskeys } from '../../store/passkeys.ts';
import { lockFactors } from '../../store/second-factors.ts';
import { insertSignInTicket } from '../../store/sign-in-tickets.ts';
import { browserOf } from '../access/browser-of.ts';
import { requestOptions } from './passkeys.ts';
import { relyingPartyOf } from './relying-party.ts';
import { makePasswordTicket, TICKET_MS } from './ticket.ts';

type Asking = { keyRing: KeyRing; consoleUrl?: string | undefined; now(): Date };

/**
 * After a right password. Undefined for an account without a factor, which a concurrent change cannot give one until the caller's
 * transaction, which starts the session, has ended.
 */
export async function askForFactor(
  tx: Tx,
  { userId, userAgent }: { userId: string; userAgent: string },
  { keyRing, consoleUrl, now }: Asking,
): Promise<{ body: SecondFactorAsked; ticket: string } | undefined> {
  const { has_totp, passkeys, recovery_codes } = await lockFactors(tx, userId);
  if (!has_totp && passkeys === 0) return undefined;
  const { ticket, cookie } = makePasswordTicket(keyRing, { userId, browser: browserOf(userAgent), now: now() });
  await insertSignInTicket(tx, { id: ticket.id, userId, validMs: TICKET_MS });
  const party = relyingPartyOf(consoleUrl);
  const own = party === undefined ? [] : await listPasskeys(tx, userId);
  const passkeyOptions =
    party === undefined || own.length === 0
      ? null
      : await requestOptions(party, { challenge: ticket.challenge, passkeys: own });
  const ways = [
    ...(has_totp ? (['code'] as const) : []),
    ...(passkeyOptions === null ? [] : (['passkey'] as const)),
    ...(recovery_codes > 0 ? (['recoveryCode'] as const) : []),
  ];
  const expiresAt = new Date(ticket.madeAt + TICKET_MS).toISOString();
  return { body: { ways, passkeyOptions, expiresAt }, ticket: cookie };
}

/** Makes a link to a new password or a new address. The secret goes out once; only its hash stays here. */
import { insertAccountLink, type LinkKind } from '../../store/account-links.ts';
import type { Tx } from '../../store/open-store.ts';
import { hashOfSecret, makeSecret } from '../access/secret-text.ts';

const HOUR_MS = 3_600_000;
/** A person waits for the mail with a new password; a new address may be confirmed the day after. */
const VALID_MS: Readonly<Record<LinkKind, number>> = { password: HOUR_MS, email: 24 * HOUR_MS };
/** A link that passes through the hands of an admin takes longer to arrive. */
export const HANDED_OVER_MS = 24 * HOUR_MS;

/** Unused links of one kind that a user may have from the last hour. */
export const MAX_RECENT_LINKS = 3;

const PAGES: Readonly<Record<LinkKind, string>> = { password: '/reset', email: '/confirm-email' };

export type AskedLink = {
  kind: LinkKind;
  userId: string;
  newEmail?: string;
  createdBy: string;
  /** As long as its kind is, unless it is said here. */
  validMs?: number;
};

export type MadeLink = { secret: string; expiresAt: Date; path: string };

export async function makeAccountLink(tx: Tx, asked: AskedLink, now: Date): Promise<MadeLink> {
  const { kind, userId, newEmail = null, createdBy, validMs = VALID_MS[kind] } = asked;
  const secret = makeSecret('mll');
  const expiresAt = new Date(now.getTime() + validMs);
  await insertAccountLink(tx, { kind, secretHash: hashOfSecret(secret), userId, newEmail, createdBy, expiresAt });
  return { secret, expiresAt, path: `${PAGES[kind]}#token=${secret}` };
}

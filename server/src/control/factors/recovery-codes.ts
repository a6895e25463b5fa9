/** Recovery codes: for people who have lost their phone and their passkeys. Each works once. */
import { hash, randomBytes } from 'node:crypto';
import type { Tx } from '../../store/open-store.ts';
import { setRecoveryCodes } from '../../store/recovery-codes.ts';

export const RECOVERY_CODES = 10;
/** Without I, L, O and U, which people misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** Sixteen characters of five bits, as `8f3k-x0wq-91zt-ab7c`. */
export function makeRecoveryCode(): string {
  const letters = [...randomBytes(GROUPS * GROUP_LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length));
  const groups = Array.from({ length: GROUPS }, (_, at) => letters.slice(at * GROUP_LENGTH, (at + 1) * GROUP_LENGTH));
  return groups.map((group) => group.join('')).join('-');
}

/** With 80 random bits a fast hash is enough. The user is a part of it: equal hashes would say nothing. */
export function hashOfRecoveryCode(userId: string, typed: string): Buffer {
  return hash('sha256', JSON.stringify([userId, asMade(typed)]), 'buffer');
}

/** As it was made, however a person types it. */
function asMade(typed: string): string {
  return typed.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
}

/** New codes in place of those before. Only this answer ever holds them. */
export async function renewRecoveryCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode);
  await setRecoveryCodes(
    tx,
    userId,
    codes.map((code) => hashOfRecoveryCode(userId, code)),
  );
  return codes;
}

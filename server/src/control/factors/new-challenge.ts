import { randomBytes } from 'node:crypto';

/** Random bytes that a passkey signs. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url');
}

import { randomBytes } from 'node:crypto';

/** What a passkey is to sign: 256 random bits. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url');
}

import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 43; // 62^43 is a little over 2^256

/** The prefix names the kind of secret, so that scanners find a leaked one and people recognise it. */
export type SecretKind = 'mlr' | 'mls' | 'mli' | 'mll' | 'wk';

/** `mlr_<43 random characters>_<checksum>`: the checksum tells a mistyped token from an unknown one without a look-up. */
export function makeSecret(kind: SecretKind): string {
  const text = `${kind}_${randomText(RANDOM_LENGTH)}`;
  return `${text}_${checksum(text)}`;
}

export function isWellFormedSecret(kind: SecretKind, secret: string): boolean {
  const end = secret.lastIndexOf('_');
  return secret.startsWith(`${kind}_`) && end > kind.length && secret.slice(end + 1) === checksum(secret.slice(0, end));
}

/** With 256 random bits there is nothing to guess, so a fast hash is enough and no lever for attackers. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Enough to tell two secrets apart in a list, too little to be of use. */
export function hintOfSecret(secret: string): string {
  return secret.slice(-4);
}

function checksum(text: string): string {
  return crc32(text).toString(36).padStart(7, '0');
}

/** Bytes that would favour the first letters of the alphabet are thrown away. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62] ?? '';
    }
  }
  return text;
}

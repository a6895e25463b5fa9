import { WebhookVerificationError } from './errors.ts';
import { builtin } from './builtin.ts';
import type { VerifyOptions, WebhookHeaders } from './verify-options.ts';

/** The text to sign with each secret, and the given signatures to compare with. */
export type Signed = {
  hash: 'SHA-1' | 'SHA-256';
  content: Uint8Array;
  given: readonly string[];
  write(digest: Uint8Array): string;
  keyOf(secret: string): Uint8Array;
};

const TOLERANCE_MS = 300_000;
const encoder = new TextEncoder();

/** The receiver chooses the scheme, never the request: an attacker who strips one header must not get the weaker check. */
export function readSigned(body: Uint8Array, headers: WebhookHeaders, options: VerifyOptions): Signed {
  const isPlain = options.scheme === 'x-signature';
  const name = isPlain ? 'x-signature' : 'webhook-signature';
  const given = headerOf(headers, name);
  if (given === undefined) throw new WebhookVerificationError('signature_missing', `The request has no ${name}.`);
  if (!isPlain) return readStandard(body, { headers, given, options });
  return { hash: 'SHA-1', content: body, given: [given], write: toHex, keyOf: (secret) => encoder.encode(secret) };
}

type StandardHeaders = { headers: WebhookHeaders; given: string; options: VerifyOptions };

function readStandard(body: Uint8Array, { headers, given, options }: StandardHeaders): Signed {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  if (id === undefined || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError(
      'timestamp_invalid',
      'webhook-id or webhook-timestamp is missing or unreadable.',
    );
  }
  checkTime(Number(timestamp) * 1_000, options);
  return {
    hash: 'SHA-256',
    content: joined(encoder.encode(`${id}.${timestamp}.`), body),
    // Several while secrets rotate; other versions are for other receivers.
    given: given.split(' ').flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : [])),
    write: toBase64,
    keyOf: (secret) => (secret.startsWith('whsec_') ? decodedKey(secret.slice(6)) : encoder.encode(secret)),
  };
}

function checkTime(signedMs: number, { toleranceMs = TOLERANCE_MS, now = Date.now }: VerifyOptions): void {
  const ageMs = now() - signedMs;
  if (ageMs > toleranceMs)
    throw new WebhookVerificationError('timestamp_too_old', 'The delivery was signed too long ago.');
  if (ageMs < -toleranceMs)
    throw new WebhookVerificationError('timestamp_too_new', 'The delivery was signed in the future.');
}

/** Takes the same time wherever the first difference is, so that a signature cannot be guessed letter by letter. */
export function isSame(a: string, b: string): boolean {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  if (left.length !== right.length) return false;
  const crypto = builtin('node:crypto');
  if (crypto !== undefined) return crypto.timingSafeEqual(left, right);
  let difference = 0;
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0);
  return difference === 0;
}

export function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const plain = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const found = Object.keys(plain).find((key) => key.toLowerCase() === name);
  const value = found === undefined ? undefined : plain[found];
  return typeof value === 'object' ? value.join(' ') : value;
}

function joined(start: Uint8Array, end: Uint8Array): Uint8Array {
  const all = new Uint8Array(start.length + end.length);
  all.set(start);
  all.set(end, start.length);
  return all;
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** An empty key is refused: any sender could sign with it. */
function decodedKey(text: string): Uint8Array {
  const key = fromBase64(text);
  if (key.length === 0) throw new TypeError('The shared secret has no base64 after whsec_.');
  return key;
}

/** As Node reads it: characters that are not base64 are skipped. */
function fromBase64(text: string): Uint8Array {
  const standard = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replaceAll(/[^A-Za-z0-9+/]/g, '');
  const whole = standard.length % 4 === 1 ? standard.slice(0, -1) : standard;
  return Uint8Array.from(atob(whole), (letter) => letter.charCodeAt(0));
}

import { isObject } from '../../../contract/src/call.ts';
import { builtin } from './builtin.ts';
import { WebhookVerificationError } from './errors.ts';
import { isSame, readSigned, type Signed } from './read-signed.ts';
import type { VerifyOptions, WebhookHeaders } from './verify-options.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** The bytes or the text that came in; a body that was parsed already is written again, which gives the same bytes. */
export type WebhookBody = string | Uint8Array | object;

/** One secret, or several while they rotate. */
export type Secrets = string | readonly string[];

const NODE_HASH = { 'SHA-1': 'sha1', 'SHA-256': 'sha256' } as const;
const TYPES = new Set(['identify', 'track', 'page', 'screen', 'group', 'alias', 'delete']);

/**
 * The event in a received webhook, once its signature is known to be right; throws a WebhookVerificationError otherwise.
 * Needs node:crypto; `verifyRequest` works everywhere.
 */
export function verifyWebhook(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  ...[secret, options = {}]: [secret: Secrets, options?: VerifyOptions]
): WebhookEvent {
  const crypto = builtin('node:crypto');
  if (crypto === undefined) throw new TypeError('verifyWebhook needs node:crypto. Use verifyRequest, which does not.');
  const body = bytesOf(rawBody);
  const signed = readSigned(body, headers, options);
  const digests = secretsOf(secret).map((each) =>
    crypto.createHmac(NODE_HASH[signed.hash], signed.keyOf(each)).update(signed.content).digest(),
  );
  return readEvent(body, signed, digests);
}

/** The same with the Web Crypto API, which all runtimes have. */
export async function verifySigned(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  ...[secret, options = {}]: [secret: Secrets, options?: VerifyOptions]
): Promise<WebhookEvent> {
  const body = bytesOf(rawBody);
  const signed = readSigned(body, headers, options);
  const digests = await Promise.all(secretsOf(secret).map((each) => hmac(signed, each)));
  return readEvent(body, signed, digests);
}

async function hmac({ hash, content, keyOf }: Signed, secret: string): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash };
  const key = await crypto.subtle.importKey('raw', Uint8Array.from(keyOf(secret)), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, Uint8Array.from(content)));
}

function secretsOf(secret: Secrets): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  // With an empty secret, any sender could sign.
  if (secrets.length === 0 || secrets.includes('')) throw new TypeError('The shared secret is missing.');
  return secrets;
}

function bytesOf(body: WebhookBody): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

function readEvent(body: Uint8Array, { given, write }: Signed, digests: readonly Uint8Array[]): WebhookEvent {
  const expected = digests.map(write);
  // All are compared, also after a match: the time it takes tells nothing.
  const matches = expected.flatMap((right) => given.filter((each) => isSame(each, right)));
  if (matches.length === 0) {
    throw new WebhookVerificationError(
      'signature_invalid',
      'The signature was not made with this secret and this body.',
    );
  }
  return parseEvent(new TextDecoder().decode(body));
}

function parseEvent(text: string): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    event = undefined;
  }
  if (!isObject(event) || typeof event.type !== 'string' || !TYPES.has(event.type)) {
    throw new WebhookVerificationError('body_invalid', 'The body is not an event of a known type.');
  }
  // The service signed it, so it has the form that the service writes.
  return event as unknown as WebhookEvent;
}

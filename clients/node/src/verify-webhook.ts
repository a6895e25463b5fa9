import { isObject } from '../../../contract/src/call.ts';
import { builtin } from './builtin.ts';
import { WebhookVerificationError } from './errors.ts';
import { headerOf, isSame, readSigned, type Signed } from './read-signed.ts';
import type { VerifyOptions, WebhookHeaders } from './verify-options.ts';
import type { BatchedWebhook, WebhookEvent } from './webhook-event.ts';

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
  return asEvent(verifiedBody(rawBody, headers, secret, options));
}

/**
 * The events of a webhook whose destination gets batches, in their order, once the signature is known to be right. Each has the id
 * to deduplicate by. A webhook with a single event gives that one, so a receiver may change its body format at any time.
 */
export function verifyWebhookBatch(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  ...[secret, options = {}]: [secret: Secrets, options?: VerifyOptions]
): BatchedWebhook[] {
  return eventsIn(verifiedBody(rawBody, headers, secret, options), headers);
}

function eventsIn(body: unknown, headers: WebhookHeaders): BatchedWebhook[] {
  if (!isObject(body) || body.type !== 'batch') {
    const attempt = Number(headerOf(headers, 'x-millrace-attempt') ?? 1);
    const order = headerOf(headers, 'x-millrace-order');
    return [{ id: headerOf(headers, 'webhook-id') ?? '', attempt, ...orderIn(order), event: asEvent(body) }];
  }
  const { events } = body;
  if (!Array.isArray(events)) throw invalid();
  return events.map((each: unknown) => {
    if (!isObject(each) || typeof each.id !== 'string') throw invalid();
    return { id: each.id, attempt: Number(each.attempt), ...orderIn(each.order), event: asEvent(each.body) };
  });
}

function orderIn(order: unknown): Pick<BatchedWebhook, 'order'> {
  return typeof order === 'string' ? { order } : {};
}

function verifiedBody(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  ...[secret, options]: [secret: Secrets, options: VerifyOptions]
): unknown {
  const crypto = builtin('node:crypto');
  if (crypto === undefined) throw new TypeError('verifyWebhook needs node:crypto. Use verifyRequest, which does not.');
  const body = bytesOf(rawBody);
  const signed = readSigned(body, headers, options);
  const digests = secretsOf(secret).map((each) =>
    crypto.createHmac(NODE_HASH[signed.hash], signed.keyOf(each)).update(signed.content).digest(),
  );
  return readBody(body, signed, digests);
}

/** As verifyWebhook, with the Web Crypto API, which all runtimes have. */
export async function verifySigned(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  ...[secret, options = {}]: [secret: Secrets, options?: VerifyOptions]
): Promise<WebhookEvent> {
  return asEvent(await signedBody(rawBody, headers, secret, options));
}

/** As verifyWebhookBatch, in the same way. */
export async function verifySignedBatch(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  ...[secret, options = {}]: [secret: Secrets, options?: VerifyOptions]
): Promise<BatchedWebhook[]> {
  return eventsIn(await signedBody(rawBody, headers, secret, options), headers);
}

async function signedBody(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  ...[secret, options]: [secret: Secrets, options: VerifyOptions]
): Promise<unknown> {
  const body = bytesOf(rawBody);
  const signed = readSigned(body, headers, options);
  const digests = await Promise.all(secretsOf(secret).map((each) => hmac(signed, each)));
  return readBody(body, signed, digests);
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

function readBody(body: Uint8Array, { given, write }: Signed, digests: readonly Uint8Array[]): unknown {
  const expected = digests.map(write);
  // All are compared, also after a match: the time it takes tells nothing.
  const matches = expected.flatMap((right) => given.filter((each) => isSame(each, right)));
  if (matches.length === 0) {
    throw new WebhookVerificationError(
      'signature_invalid',
      'The signature was not made with this secret and this body.',
    );
  }
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function asEvent(event: unknown): WebhookEvent {
  if (!isObject(event) || typeof event.type !== 'string' || !TYPES.has(event.type)) throw invalid();
  // The service signed it, so it has the form that the service writes.
  return event as unknown as WebhookEvent;
}

function invalid(): WebhookVerificationError {
  return new WebhookVerificationError('body_invalid', 'The body is not an event of a known type.');
}

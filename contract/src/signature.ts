import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';

export interface SignedDelivery {
  id: string;
  timestampSeconds: number;
  body: string;
}

/** The value of `X-Signature`: lower-case hex HMAC-SHA1 over the body's UTF-8 bytes. */
export function signBody(secret: string, body: string): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}

/** Takes the same time wherever the first difference is, so that a signature cannot be guessed letter by letter. */
export function verifyBody(secret: string, body: string, signature: string): boolean {
  const expected = Buffer.from(signBody(secret, body));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The value of `webhook-signature`, one signature a secret: while secrets rotate, receivers may know either one. */
export function signStandardWebhook(secrets: readonly string[], delivery: SignedDelivery): string {
  const { id, timestampSeconds, body } = delivery;
  const content = `${id}.${timestampSeconds}.${body}`;
  return secrets.map((secret) => `v1,${hmacWith(secret).update(content).digest('base64')}`).join(' ');
}

/**
 * Standard Webhooks writes keys as `whsec_` and base64; a secret made by hand is its own bytes. The key stays text, because
 * Node takes five times as long for the same key in a Buffer.
 */
function hmacWith(secret: string): Hmac {
  if (!secret.startsWith('whsec_')) return createHmac('sha256', secret);
  return createHmac('sha256', secret.slice('whsec_'.length), { encoding: 'base64' });
}

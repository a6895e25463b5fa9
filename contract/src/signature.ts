import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

export interface SignedDelivery {
  id: string;
  timestampSeconds: number;
  body: string;
}

/** A secret made ready to sign with. Callers that sign often keep it: reading the secret anew costs a third of a signature. */
export interface SigningKey {
  body: KeyObject;
  standard: KeyObject;
}

/** Standard Webhooks writes keys as `whsec_` and base64; a secret made by hand is its own bytes. */
export function signingKey(secret: string): SigningKey {
  const body = createSecretKey(secret, 'utf8');
  const isEncoded = secret.startsWith('whsec_');
  return { body, standard: isEncoded ? createSecretKey(secret.slice('whsec_'.length), 'base64') : body };
}

/** The value of `X-Signature`: lower-case hex HMAC-SHA1 over the body's UTF-8 bytes. */
export function signBody(secret: string | SigningKey, body: string): string {
  return createHmac('sha1', readyKey(secret).body).update(body).digest('hex');
}

/** Takes the same time wherever the first difference is, so that a signature cannot be guessed letter by letter. */
export function verifyBody(secret: string, body: string, signature: string): boolean {
  const expected = Buffer.from(signBody(secret, body));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The value of `webhook-signature`, one signature a secret: while secrets rotate, receivers may know either one. */
export function signStandardWebhook(secrets: readonly (string | SigningKey)[], delivery: SignedDelivery): string {
  const { id, timestampSeconds, body } = delivery;
  const content = `${id}.${timestampSeconds}.${body}`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', readyKey(secret).standard).update(content).digest('base64')}`)
    .join(' ');
}

export type StandardHeaders = { id: string; timestampSeconds: number; signature: string };

/** Whether one of the signatures in `webhook-signature` is that of the secret. The caller judges the age of the timestamp. */
export function verifyStandardWebhook(
  secret: string,
  body: string,
  { id, timestampSeconds, signature }: StandardHeaders,
) {
  const expected = Buffer.from(signStandardWebhook([secret], { id, timestampSeconds, body }));
  return signature.split(' ').some((each) => {
    const given = Buffer.from(each);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function readyKey(secret: string | SigningKey): SigningKey {
  return typeof secret === 'string' ? signingKey(secret) : secret;
}

/**
 * Are the signatures of a webhook right, and if not, why? A receiver that computes a signature wrongly sees only "not equal"; this
 * check tries the usual mistakes and names the one that was made.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { signBody, signingKey, signStandardWebhook } from '@millrace/contract';

export type SignatureCheck = { header: string; ok: boolean; says: string };

export type SignedRequest = {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
  now: Date;
};

/** As the libraries of Standard Webhooks do. */
const TOLERANCE_SECONDS = 300;

export function checkSignatures(secret: string, request: SignedRequest): SignatureCheck[] {
  return [checkBodySignature(secret, request), checkStandardWebhook(secret, request)];
}

function checkBodySignature(secret: string, { headers, body }: SignedRequest): SignatureCheck {
  const header = 'X-Signature';
  const given = headers['x-signature'];
  if (given === undefined) return { header, ok: false, says: 'is missing' };
  const right = signBody(secret, body);
  if (isEqual(given, right)) return { header, ok: true, says: 'is valid' };
  return { header, ok: false, says: bodyMistake(secret, body, given) };
}

function bodyMistake(secret: string, body: string, given: string): string {
  const key = signingKey(secret).body;
  const right = createHmac('sha1', key).update(body);
  const digest = right.digest();
  if (given.toLowerCase() === digest.toString('hex')) return 'must be written in lower case';
  if (given.replace(/^sha1=/, '') === digest.toString('hex')) return 'must not begin with sha1=';
  if (given === digest.toString('base64')) return 'is in base64, and must be in hex';
  const sha256 = createHmac('sha256', key).update(body).digest();
  if ([sha256.toString('hex'), sha256.toString('base64')].includes(given)) {
    return 'was made with SHA-256, and must be made with SHA-1 (webhook-signature has SHA-256)';
  }
  if (secret.startsWith('whsec_') && signDecoded(secret, body) === given) {
    return 'was made with the decoded secret; X-Signature takes the text of the secret with whsec_';
  }
  const other = otherBodies(body).find(({ text }) => signBody(secret, text) === given);
  if (other !== undefined) return other.says;
  if (signBody(secret.trim(), body) === given) return 'fits the secret without the spaces around it';
  return 'is not valid: the body was changed on its way, or signed with another secret';
}

function signDecoded(secret: string, body: string): string {
  return createHmac('sha1', signingKey(secret).standard).update(body).digest('hex');
}

/** Texts that senders and proxies make of a body. */
function otherBodies(body: string): { text: string; says: string }[] {
  const others = [
    { text: body.trim(), says: 'was made without the white space around the body' },
    { text: `${body}\n`, says: 'was made with a line feed after the body' },
  ];
  try {
    const parsed: unknown = JSON.parse(body);
    others.push(
      {
        text: JSON.stringify(parsed),
        says: 'was made over the JSON as JSON.stringify writes it, and the body differs',
      },
      { text: JSON.stringify(parsed, null, 2), says: 'was made over the JSON with indentation, and the body has none' },
    );
  } catch {
    // No JSON, so no other way to write it.
  }
  return others.filter(({ text }) => text !== body);
}

function checkStandardWebhook(secret: string, request: SignedRequest): SignatureCheck {
  const header = 'webhook-signature';
  const problem = standardProblem(secret, request);
  return problem === undefined ? { header, ok: true, says: 'is valid' } : { header, ok: false, says: problem };
}

function standardProblem(secret: string, { headers, body, now }: SignedRequest): string | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers;
  const missing = Object.entries({ 'webhook-id': id, 'webhook-timestamp': timestamp }).find(([, value]) => !value);
  if (given === undefined) return 'is missing';
  if (missing !== undefined) return `cannot be checked: ${missing[0]} is missing`;
  const timestampSeconds = Number(timestamp);
  if (!Number.isSafeInteger(timestampSeconds)) return 'cannot be checked: webhook-timestamp is not in whole seconds';
  const signatures = given.split(' ');
  const sign = (text: string, key = secret) =>
    signStandardWebhook([key], { id: id ?? '', timestampSeconds, body: text });
  if (!signatures.some((signature) => isEqual(signature, sign(body))))
    return standardMistake(secret, signatures, { body, sign });
  const ageSeconds = Math.round(now.getTime() / 1_000 - timestampSeconds);
  if (timestampSeconds > 1e11) return 'fits, but webhook-timestamp is in milliseconds and must be in seconds';
  if (Math.abs(ageSeconds) <= TOLERANCE_SECONDS) return undefined;
  const how = ageSeconds > 0 ? `${ageSeconds} s old` : `${-ageSeconds} s in the future`;
  return `fits, but its webhook-timestamp is ${how}: libraries refuse more than ${TOLERANCE_SECONDS} s`;
}

type Signing = { body: string; sign(text: string, key?: string): string };

function standardMistake(secret: string, given: readonly string[], { body, sign }: Signing): string {
  if (!given.some((signature) => signature.startsWith('v1,'))) return 'has no signature that begins with v1,';
  const hasMade = (text: string, key?: string) => given.includes(sign(text, key));
  const other = otherBodies(body).find(({ text }) => hasMade(text));
  if (other !== undefined) return other.says;
  const bare = secret.replace(/^whsec_/, '');
  if (bare !== secret && hasMade(body, bare))
    return 'was made with the text of the secret, which must be decoded from base64';
  if (hasMade(body, `whsec_${secret}`))
    return 'was made with the secret decoded from base64; only one with whsec_ is decoded';
  return 'is not valid: id, timestamp or body were changed on the way, or signed with another secret';
}

function isEqual(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

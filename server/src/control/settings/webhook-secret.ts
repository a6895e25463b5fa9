const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 8;

/**
 * Why this text cannot be a shared secret, or undefined. After `whsec_` Standard Webhooks expects base64, and languages decode
 * invalid base64 differently: some to an empty key, with which an attacker could sign.
 */
export function secretProblem(secret: string): string | undefined {
  if (!secret.startsWith(PREFIX)) return undefined;
  const encoded = secret.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  if (key.length >= MIN_KEY_BYTES && key.toString('base64') === encoded) return undefined;
  return `must be base64 of at least ${MIN_KEY_BYTES} bytes after ${PREFIX}`;
}

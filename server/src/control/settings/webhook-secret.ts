const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 8;

/**
 * Why this text cannot be a shared secret, or undefined. After `whsec_` Standard Webhooks expects base64, and every
 * language decodes what is not base64 in another way: some to no key at all, which anybody could sign with.
 */
export function secretProblem(secret: string): string | undefined {
  if (!secret.startsWith(PREFIX)) return undefined;
  const encoded = secret.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  if (key.length >= MIN_KEY_BYTES && key.toString('base64') === encoded) return undefined;
  return `must be base64 of at least ${MIN_KEY_BYTES} bytes after ${PREFIX}`;
}

/** Shared secrets are made in the browser, so that only the person and the request that saves it ever hold one. */
const SECRET_BYTES = 32;
const LEAST_CHARS = 8;
const MOST_CHARS = 500;

/** As Standard Webhooks writes keys: `whsec_` and base64. */
export function makeSecret(
  random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array = (bytes) => crypto.getRandomValues(bytes),
): string {
  const bytes = random(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

export function secretProblem(secret: string): string | undefined {
  if (secret.length < LEAST_CHARS) return `A secret has at least ${LEAST_CHARS} characters.`;
  if (secret.length > MOST_CHARS) return `A secret has at most ${MOST_CHARS} characters.`;
  if (secret.startsWith('whsec_') && !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) {
    return 'After whsec_ a secret is base64: letters, digits, + and /.';
  }
  return undefined;
}

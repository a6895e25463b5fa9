/** Computes the signatures of a delivery in the browser, as contract/src/signature.ts does on the server. The secret never leaves the page. */

export type Signed = { id: string; timestamp: string; body: string };

/** The value of `webhook-signature`: HMAC-SHA256 over id, time and body. */
export async function standardSignature(secret: string, { id, timestamp, body }: Signed): Promise<string> {
  const bytes = await hmac('SHA-256', standardKey(secret), `${id}.${timestamp}.${body}`);
  return `v1,${btoa(String.fromCharCode(...bytes))}`;
}

/** The value of `X-Signature`: HMAC-SHA1 over the body, in hex. */
export async function bodySignature(secret: string, body: string): Promise<string> {
  const bytes = await hmac('SHA-1', encoded(secret), body);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Standard Webhooks writes keys as `whsec_` and base64; a secret made by hand is its own bytes. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  if (!secret.startsWith('whsec_')) return encoded(secret);
  const plain = secret
    .slice('whsec_'.length)
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^A-Za-z0-9+/]/g, '');
  const text = atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

async function hmac(hash: 'SHA-256' | 'SHA-1', key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const ready = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', ready, encoded(text)));
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

export type Verdict = 'standard' | 'body' | 'none';

/** `webhook-signature` may hold several signatures, with a space between. */
export function verdictOf(given: string, computed: { standard: string; body: string }): Verdict {
  const parts = given.trim().split(/\s+/);
  if (parts.includes(computed.standard)) return 'standard';
  return parts.some((part) => part.toLowerCase() === computed.body) ? 'body' : 'none';
}

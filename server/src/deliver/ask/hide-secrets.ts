/** Takes the values of the owner's headers out of what a receiver says: it may send back what it got. */
import { KEPT_BODY_BYTES } from '../client/sending.ts';

const HIDDEN = '[hidden]';
/** Shorter values, such as `1`, are in any text, and no secret. */
const MIN_SECRET = 6;

export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.flatMap(formsOf).reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
}

/** Of a body only the beginning is kept, and the cut may fall into a secret: the part before the cut is taken out too. */
export function hideInBody(body: string, secrets: readonly string[]): string {
  const text = hideSecrets(body, secrets);
  if (Buffer.byteLength(body) < KEPT_BODY_BYTES) return text;
  // A character that was cut in two.
  const whole = text.replace(/\uFFFD$/, '');
  const longest = Math.max(0, ...secrets.flatMap(formsOf).map((form) => cutLength(whole, form)));
  return longest === 0 ? text : `${whole.slice(0, -longest)}${HIDDEN}`;
}

/** Of `Bearer abc` the second part alone is the secret, and receivers like to take it apart, or to answer in JSON. */
function formsOf(secret: string): string[] {
  const parts = [secret, secret.slice(secret.lastIndexOf(' ') + 1)].filter((part) => part.length >= MIN_SECRET);
  return parts.flatMap((part) => [part, JSON.stringify(part).slice(1, -1)]);
}

/** How many characters at the end of the text are the beginning of this form of a secret. */
function cutLength(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

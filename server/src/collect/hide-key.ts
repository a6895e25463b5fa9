/**
 * The write key never reaches a stored event. Clients send it inside the body, and browser libraries in every call, so
 * its bytes are overwritten where they stand: the body stays the same JSON with the same length.
 * Returns how often it was found; the body is changed in place.
 */
export function hideKey(body: Buffer, writeKey: string): number {
  // With its quotes: only a text that is the key and nothing else, never a part of a longer one.
  const needle = Buffer.from(JSON.stringify(writeKey));
  let found = 0;
  for (let at = body.indexOf(needle); at !== -1; at = body.indexOf(needle, at + needle.length)) {
    body.fill('*', at + 1, at + needle.length - 1);
    found += 1;
  }
  return found;
}

/** The body to store. A key written in a way we did not find (escapes) makes us write the body anew without it. */
export function withoutKeys(bytes: Buffer, body: unknown, authenticated: string): Buffer {
  const keys = keysIn(body);
  if (keys.length === 0) return bytes;
  let isHidden = true;
  for (const key of new Set([authenticated, ...keys])) {
    const fields = keys.filter((other) => other === key).length;
    isHidden = hideKey(bytes, key) >= fields && isHidden;
  }
  return isHidden ? bytes : Buffer.from(JSON.stringify(stripKeys(body)));
}

/** The values of every `writeKey` field: of the body and of its calls. */
function keysIn(body: unknown): string[] {
  const holders: unknown[] = [body, ...callsOf(body)];
  return holders.flatMap((holder) => {
    const key = isHolder(holder) ? holder.writeKey : undefined;
    return typeof key === 'string' && key !== '' ? [key] : [];
  });
}

function stripKeys(body: unknown): unknown {
  for (const holder of [body, ...callsOf(body)]) {
    if (isHolder(holder)) delete holder.writeKey;
  }
  return body;
}

function callsOf(body: unknown): unknown[] {
  const calls = typeof body === 'object' && body !== null && 'batch' in body ? body.batch : undefined;
  return Array.isArray(calls) ? calls : [];
}

function isHolder(value: unknown): value is { writeKey?: unknown } {
  return typeof value === 'object' && value !== null && 'writeKey' in value;
}

import type { Refusal, RequestShape } from '@millrace/contract';

/**
 * The write key never reaches a stored event. Clients send it inside the body, and browser libraries in every call, so
 * its bytes are overwritten where they stand: the body stays the same JSON with the same length.
 * Returns how often it was found; the body is changed in place.
 */
export function hideKey(body: Buffer, writeKey: string): number {
  const needle = Buffer.from(JSON.stringify(writeKey).slice(1, -1));
  let found = 0;
  for (let at = body.indexOf(needle); at !== -1; at = body.indexOf(needle, at + needle.length)) {
    const end = at + needle.length;
    // Between quotes: only a text that is the key and nothing else, never a part of a longer one. The quotes are not
    // searched for, because JSON is full of them and the search would stop at each.
    if (body[at - 1] !== QUOTE || body[at - 2] === BACKSLASH || body[end] !== QUOTE) continue;
    body.fill('*', at, end);
    found += 1;
  }
  return found;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export type TakenBody = {
  body: unknown;
  shape: RequestShape;
  refused: Refusal[];
  /** The places of calls that must not be stored, whether they were accepted or not. */
  dropped?: number[];
  writeKey: string;
};

/**
 * The body to store. Only the key that authorized it is overwritten in place: another text in a `writeKey` field may be a word
 * that the body needs elsewhere. For such a text, or for the key written with escapes, the body is serialized again without it.
 */
export function withoutKeys(bytes: Buffer, taken: TakenBody): Buffer {
  const hidden = hideKey(bytes, taken.writeKey);
  const { count, areAllThis } = countKeys(taken);
  const areHidden =
    (taken.dropped ?? []).length === 0 && areAllThis && count <= hidden && (count === 0 || !bytes.includes('\\u'));
  if (areHidden) return bytes;
  const rewritten = Buffer.from(JSON.stringify(stripKeys(taken)));
  hideKey(rewritten, taken.writeKey);
  return rewritten;
}

/** How many `writeKey` fields the body and its calls have, and whether all of them hold this key. */
function countKeys({ body, shape, writeKey }: TakenBody): { count: number; areAllThis: boolean } {
  let count = 0;
  let areAllThis = true;
  const look = (holder: unknown) => {
    const key = isHolder(holder) ? holder.writeKey : undefined;
    if (typeof key !== 'string' || key === '') return;
    count += 1;
    areAllThis &&= key === writeKey;
  };
  look(body);
  for (const call of callsOf(body, shape)) look(call);
  return { count, areAllThis };
}

/** Leaves out refused calls and unknown fields of a batch: they may be nested too deeply to be written. */
function stripKeys({ body, shape, refused, dropped = [] }: TakenBody): unknown {
  const calls = callsOf(body, shape);
  for (const holder of [body, ...calls]) {
    if (isHolder(holder)) delete holder.writeKey;
  }
  if (shape !== 'batch') return body;
  // A copy: the tail may still show the calls themselves.
  const kept = [...calls];
  for (const index of [...refused.map((refusal) => refusal.index), ...dropped]) kept[index] = null;
  const { context, integrations, sentAt } = body as Record<string, unknown>;
  return { batch: kept, context, integrations, sentAt };
}

/** The calls of a batch; a single call is its own body. */
export function callsOf(body: unknown, shape: RequestShape): unknown[] {
  if (shape !== 'batch') return [];
  const calls = typeof body === 'object' && body !== null && 'batch' in body ? body.batch : undefined;
  return Array.isArray(calls) ? calls : [];
}

function isHolder(value: unknown): value is { writeKey?: unknown } {
  return typeof value === 'object' && value !== null && 'writeKey' in value;
}

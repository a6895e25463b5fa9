/**
 * Every stored thing carries the version of its format: messages in a header, the envelope of a request and the entries of
 * buckets in a field `v`. Without one it is version 1. A process that finds a newer version than it reads leaves the thing
 * for a newer process. A thing that fits no version is unreadable and goes to quarantine.
 */
export const FORMAT_HEADER = 'Millrace-Format';

/** The version of each format that this process writes, which is also the newest that it reads. */
export const FORMATS = {
  request: 2,
  lane: 1,
  ticket: 1,
  outcomes: 2,
  letter: 1,
  source: 1,
  destination: 2,
  user: 1,
  health: 1,
  floor: 1,
} as const;
export type FormatName = keyof typeof FORMATS;

/**
 * Requests are written in the oldest version that has what they need: clients' requests in one that the version before this reads. A
 * process that routes computed requests by their source would send them nowhere, so theirs is newer.
 */
export const REQUEST_FORMATS = { sent: 1, computed: 2 } as const;

/**
 * Batches of outcomes likewise. An installation with one stream writes whole entries, which the version before this reads; that version does not
 * know several streams, so there they are lean.
 */
export const OUTCOME_FORMATS = { whole: 1, lean: 2 } as const;
export type OutcomeFormat = keyof typeof OUTCOME_FORMATS;

/**
 * Config entries of destinations likewise. A process that knows no batches would send each event alone, so it has to leave these destinations to
 * a newer one.
 */
export const DESTINATION_FORMATS = { single: 1, batched: 2 } as const;

export type Unread = { ok: false; problem: 'newer' | 'unreadable'; why: string };
export type Stored<T> = { ok: true; value: T } | Unread;

/** For a publication of this format. */
export function formatHeader(format: FormatName): readonly [name: string, value: string] {
  return [FORMAT_HEADER, String(FORMATS[format])];
}

export function unreadable(why: string): Unread {
  return { ok: false, problem: 'unreadable', why };
}

/** Why a thing of this version cannot be read; undefined when it can. A header that is not there reads as empty text. */
export function versionProblem(format: FormatName, version: unknown): Unread | undefined {
  if (version === undefined || version === '') return undefined;
  const number = typeof version === 'string' ? Number(version) : version;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) {
    return unreadable('its format version is not a whole number from 1 on');
  }
  const newest: number = FORMATS[format];
  if (number <= newest) return undefined;
  return {
    ok: false,
    problem: 'newer',
    why: `its ${format} format is version ${number}, and this process reads ${newest}`,
  };
}

export function readJson(bytes: Uint8Array | string): Stored<unknown> {
  try {
    const text =
      typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // Without the words of the parser: they quote the text, and people see this reason who must not see payloads.
    return unreadable(`not JSON${/ at position \d+/.exec(String(error))?.[0] ?? ''}`);
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object of a bucket, with its version in `v`. */
export function readFields(format: FormatName, text: string): Stored<Fields> {
  const json = readJson(text);
  if (!json.ok) return json;
  if (!isFields(json.value)) return unreadable('not an object');
  return versionProblem(format, json.value['v']) ?? { ok: true, value: json.value };
}

/** The first field that has the wrong kind of value, in words; undefined when all are right. */
export function fieldProblem(value: Fields, kinds: Readonly<Record<string, FieldKind>>): string | undefined {
  for (const [field, kind] of Object.entries(kinds)) {
    if (!isOfKind(Object.hasOwn(value, field) ? value[field] : undefined, kind))
      return `${field} is not ${WORDS[kind]}`;
  }
  return undefined;
}

export type FieldKind = 'text' | 'number' | 'boolean' | 'time' | 'list' | 'object' | 'text?' | 'number?' | 'object?';

const WORDS: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  number: 'a number',
  boolean: 'true or false',
  time: 'a time',
  list: 'a list',
  object: 'an object',
  'text?': 'text',
  'number?': 'a number',
  'object?': 'an object',
};

function isOfKind(value: unknown, kind: FieldKind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value));
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isFields(value);
    case 'text?':
      return value === undefined || typeof value === 'string';
    case 'number?':
      return value === undefined || isOfKind(value, 'number');
    case 'object?':
      return value === undefined || isFields(value);
  }
}

import { hash } from 'node:crypto';
import type { SourceConfig } from '../domain/configuration.ts';

export type Sources = { sourceByKeyHash(hash: string): SourceConfig | undefined };
export type KeyFound = { writeKey: string; keyHash: string; source: SourceConfig };

export type KeyLookup = {
  byKey(writeKey: string): KeyFound | undefined;
  /** `none` when the header holds no key, `bearer` for a scheme that is not supported. */
  byHeader(authorization: string | undefined): KeyFound | undefined | 'none' | 'bearer';
};

type Known = { writeKey: string; keyHash: string };

const MAX_REMEMBERED = 10_000;
const MAX_REMEMBERED_LENGTH = 256;

/**
 * From key to source. A cache keeps the hash for each header and key, because the same few come again and again. Only keys that
 * exist are kept, so guessing cannot fill the memory. The source itself is looked up each time, because it may change.
 */
export function openKeyLookup(sources: Sources): KeyLookup {
  const knownKeys = new Map<string, Known>();
  const knownHeaders = new Map<string, Known>();

  function found({ writeKey, keyHash }: Known): KeyFound | undefined {
    const source = sources.sourceByKeyHash(keyHash);
    return source === undefined ? undefined : { writeKey, keyHash, source };
  }

  function remember(known: Map<string, Known>, sent: string, writeKey: string): KeyFound | undefined {
    const entry = { writeKey, keyHash: hashOfKey(writeKey) };
    const result = found(entry);
    // Else a valid key with long passwords could fill the memory.
    if (result === undefined || sent.length > MAX_REMEMBERED_LENGTH) return result;
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(sent, entry);
    return result;
  }

  return {
    byKey(writeKey) {
      const remembered = knownKeys.get(writeKey);
      return remembered === undefined ? remember(knownKeys, writeKey, writeKey) : found(remembered);
    },
    byHeader(authorization) {
      if (authorization === undefined) return 'none';
      const remembered = knownHeaders.get(authorization);
      if (remembered !== undefined) return found(remembered);
      const header = keyOfHeader(authorization);
      return header.kind === 'key' ? remember(knownHeaders, authorization, header.writeKey) : header.kind;
    },
  };
}

/** The Authorization header has a key, has none, or uses a scheme that is not supported. */
export type HeaderKey = { kind: 'key'; writeKey: string } | { kind: 'none' } | { kind: 'bearer' };

/** The key is the user of HTTP Basic, with an empty password; the colon may be missing. */
export function keyOfHeader(authorization: string): HeaderKey {
  const scheme = authorization.slice(0, 7).toLowerCase();
  if (scheme === 'bearer ') return { kind: 'bearer' };
  if (!scheme.startsWith('basic ')) return { kind: 'none' };
  const decoded = Buffer.from(authorization.slice(6), 'base64').toString();
  const colon = decoded.indexOf(':');
  const writeKey = colon === -1 ? decoded : decoded.slice(0, colon);
  return writeKey === '' ? { kind: 'none' } : { kind: 'key', writeKey };
}

/** `writeKey` of the body, or of its first call: browser libraries repeat it in each. */
export function keyOfBody(body: unknown): string | undefined {
  if (!isRecord(body)) return undefined;
  if (typeof body['writeKey'] === 'string') return body['writeKey'];
  const first: unknown = Array.isArray(body['batch']) ? body['batch'][0] : undefined;
  return isRecord(first) && typeof first['writeKey'] === 'string' ? first['writeKey'] : undefined;
}

export function hashOfKey(writeKey: string): string {
  return hash('sha256', writeKey);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

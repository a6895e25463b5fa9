import { networkOf } from '../http/network-of.ts';
import type { KeyLookup } from './find-write-key.ts';
import { openRateLimiter } from '../limits/rate-limit.ts';

/**
 * Requests without a key in the header. Some client libraries have their key in the body only, so that has to be read; a token
 * bucket for each client network limits how many of them are refused.
 */
export type Keyless = {
  /** After how many seconds the address may send again; 0 for now. */
  waitSeconds(address: string): number;
  /** Notes that a request of this size was refused. */
  refused(address: string, bytes: number): void;
};

export type KeylessNeeds = {
  /** Small requests that one address may have refused; 0 for any number. */
  perSecond: number;
  nowMs(): number;
  maxAddresses?: number;
};

const BURST_SECONDS = 10;
/** Reading a body of this size costs as much as another request. */
const BYTES_OF_ONE = 16_384;
const MAX_ADDRESSES = 20_000;

export function openKeyless({ perSecond, nowMs, maxAddresses = MAX_ADDRESSES }: KeylessNeeds): Keyless {
  if (perSecond === 0) return { waitSeconds: () => 0, refused: () => undefined };
  const limit = { perSecond, burst: perSecond * BURST_SECONDS };
  const limiter = openRateLimiter(nowMs, maxAddresses);
  return {
    waitSeconds: (address) => limiter.waitIfKnown(networkOf(address), limit),
    refused(address, bytes) {
      const network = networkOf(address);
      limiter.waitSeconds(network, limit);
      limiter.spend(network, 1 + Math.floor(bytes / BYTES_OF_ONE));
    },
  };
}

/** Parsing this much costs about a millisecond at worst; a body without a key that is larger is not parsed. */
export const MAX_UNKNOWN_BYTES = 32_768;
const FIELD = Buffer.from('"writeKey"');
const VALUE = /^\s*:\s*("(?:[^"\\]|\\.)*")/;
const VALUE_BYTES = 600;
/** Browser libraries repeat the same key in every call, so the first few decide. */
const MAX_FIELDS = 16;

/** Whether a large body contains a known key. Searching its bytes costs a hundredth of parsing it. */
export function mayHaveKey(body: Buffer, keys: Pick<KeyLookup, 'byKey'>): boolean {
  if (body.length <= MAX_UNKNOWN_BYTES) return true;
  let at = body.indexOf(FIELD);
  for (let fields = 0; at !== -1 && fields < MAX_FIELDS; fields += 1) {
    const from = at + FIELD.length;
    const value = VALUE.exec(body.toString('utf8', from, from + VALUE_BYTES))?.[1];
    if (value !== undefined && keys.byKey(textOf(value)) !== undefined) return true;
    at = body.indexOf(FIELD, from);
  }
  return false;
}

function textOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return '';
  }
}

/**
 * Entries of the config bucket carry a MAC (HMAC-SHA-256), made by control and checked by every process that has the key
 * ring: a NATS connection alone cannot change what deliver acts on. The MAC is the last member of the entry's JSON, where a
 * version that does not know it reads past it, and covers all bytes before it, the entry's key and the operation.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';

/** `text` is what the bucket holds; a deletion has a text of its own, so that it can be authentic too. */
export type StoredEntry = { key: string; text: string; isDeletion: boolean };
export type EntryVerdict = 'authentic' | 'unsigned' | 'forged';

export type EntrySigner = {
  /** The text to store; without a value, that of a deletion. */
  sign(key: string, value: string | undefined): string;
  check(entry: StoredEntry): EntryVerdict;
};

/** How much longer a text is with its MAC. */
export const MAC_BYTES = 64;
const DELETION = '{"deleted":true}';
const MAC = /,"mac":"(\d{1,5}):([\w-]{43})"\}$/;
const PURPOSE = 'millrace config entry';

/** The last key of the ring signs, all of them check: as for sealed values. */
export function openEntrySigner(keys: ReadonlyMap<number, Buffer>): EntrySigner {
  // Key objects: from plain bytes, each MAC would make one of its own, which costs four times as much as the MAC.
  const macKeys = new Map([...keys].map(([id, key]) => [id, macKeyOf(key)]));
  const [active] = [...macKeys].slice(-1);
  if (active === undefined) throw new Error('the key ring is empty');
  const [activeId, activeKey] = active;
  return {
    sign(key, value) {
      const text = value ?? DELETION;
      const mac = macOf(activeKey, { key, text, isDeletion: value === undefined });
      return `${text.slice(0, -1)},"mac":"${activeId}:${mac.toString('base64url')}"}`;
    },
    check({ key, text, isDeletion }) {
      const found = MAC.exec(text);
      if (found === null) return 'unsigned';
      const macKey = macKeys.get(Number(found[1]));
      if (macKey === undefined) return 'forged';
      const wanted = macOf(macKey, { key, text: `${text.slice(0, found.index)}}`, isDeletion });
      return timingSafeEqual(wanted, Buffer.from(found[2] ?? '', 'base64url')) ? 'authentic' : 'forged';
    },
  };
}

function macKeyOf(key: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', PURPOSE, 32)));
}

/** An entry as it was before it was signed. */
export function bareValue(text: string): string {
  return text.replace(MAC, '}');
}

/** Keys of the bucket have no line breaks, so that the parts stay apart. */
function macOf(macKey: KeyObject, { key, text, isDeletion }: StoredEntry): Buffer {
  return createHmac('sha256', macKey)
    .update(`${isDeletion ? 'DEL' : 'PUT'}\n${key}\n${text}`)
    .digest();
}

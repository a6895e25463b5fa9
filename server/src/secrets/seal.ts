import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** Where a sealed value belongs. It opens nowhere else: a row copied into another workspace stays shut. */
export type Place = { workspaceId: string; table: string; column: string; rowId: string };

export type KeyRing = {
  activeId: number;
  ids: readonly number[];
  /** As `activeId` would, with another key of the ring: for the canaries. */
  sealWith(id: number, text: string, place: Place): Buffer;
  seal(text: string, place: Place): Buffer;
  open(sealed: Buffer, place: Place): string;
  /** Which key a value was sealed with, for the re-sealing after a rotation. */
  keyIdOf(sealed: Buffer): number;
  /** Texts that only a holder of the ring can make of these parts, one for each key: that of the active key first. */
  tokensOf(purpose: string, parts: readonly string[]): string[];
};

const VERSION = 1;
const HEAD_BYTES = 3;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** AES-256-GCM: version | key id (2 bytes) | iv | tag | ciphertext. The last key of the ring seals, all of them open. */
export function openKeyRing(keys: ReadonlyMap<number, Buffer>): KeyRing {
  const activeId = [...keys.keys()].at(-1);
  if (activeId === undefined) throw new Error('the key ring is empty');
  // From plain bytes, each use would make a key object of its own, which costs several times as much as to open a value.
  const keyObjects = new Map([...keys].map(([id, key]) => [id, createSecretKey(key)]));
  const keyOf = (id: number): KeyObject => {
    const key = keyObjects.get(id);
    if (key === undefined) throw new Error(`a value is sealed with key ${id}, which is not in MILLRACE_KEYS`);
    return key;
  };
  const sealWith = (id: number, text: string, place: Place): Buffer => {
    const head = headOf(id);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', keyOf(id), iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(bindingOf(head, place));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([head, iv, cipher.getAuthTag(), body]);
  };
  return {
    activeId,
    ids: [...keys.keys()],
    sealWith,
    seal: (text, place) => sealWith(activeId, text, place),
    open(sealed, place) {
      const { head, iv, tag, rest, keyId } = takeApart(sealed);
      const decipher = createDecipheriv('aes-256-gcm', keyOf(keyId), iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(bindingOf(head, place));
      decipher.setAuthTag(tag);
      return decipher.update(rest, undefined, 'utf8') + decipher.final('utf8');
    },
    keyIdOf: (sealed) => takeApart(sealed).keyId,
    tokensOf: (purpose, parts) => [...keys.values()].toReversed().map((key) => tokenOf(key, purpose, parts)),
  };
}

/** How everything begins that this key has sealed. */
export function headOf(keyId: number): Buffer {
  return Buffer.from([VERSION, keyId >> 8, keyId & 0xff]);
}

/** `1:<base64>,2:<base64>`, each key 32 bytes. */
export function readKeys(text: string): Map<number, Buffer> {
  const keys = new Map<number, Buffer>();
  for (const part of text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')) {
    const [id = '', encoded = ''] = part.split(':');
    const key = Buffer.from(encoded, 'base64');
    if (!/^\d{1,5}$/.test(id) || Number(id) > 65_535 || Number(id) < 1)
      throw new Error('a key id must be from 1 to 65535');
    if (key.length !== KEY_BYTES) throw new Error(`key ${id} must be 32 bytes in base64: \`openssl rand -base64 32\``);
    if (keys.has(Number(id))) throw new Error(`key ${id} is there twice`);
    keys.set(Number(id), key);
  }
  return keys;
}

function takeApart(sealed: Buffer): { head: Buffer; iv: Buffer; tag: Buffer; rest: Buffer; keyId: number } {
  if (sealed.length < HEAD_BYTES + IV_BYTES + TAG_BYTES || sealed[0] !== VERSION) throw new Error('not a sealed value');
  const afterIv = HEAD_BYTES + IV_BYTES;
  return {
    head: sealed.subarray(0, HEAD_BYTES),
    iv: sealed.subarray(HEAD_BYTES, afterIv),
    tag: sealed.subarray(afterIv, afterIv + TAG_BYTES),
    rest: sealed.subarray(afterIv + TAG_BYTES),
    keyId: sealed.readUInt16BE(1),
  };
}

const TOKEN_CHARACTERS = 40;

function tokenOf(key: Buffer, purpose: string, parts: readonly string[]): string {
  const macKey = Buffer.from(hkdfSync('sha256', key, '', `millrace ${purpose}`, KEY_BYTES));
  return createHmac('sha256', macKey).update(JSON.stringify(parts)).digest('hex').slice(0, TOKEN_CHARACTERS);
}

/** JSON keeps the parts apart whatever they contain. */
function bindingOf(head: Buffer, { workspaceId, table, column, rowId }: Place): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify([workspaceId, table, column, rowId]))]);
}

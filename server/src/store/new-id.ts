import * as crypto from 'node:crypto';

export type IdPrefix =
  | 'ws'
  | 'usr'
  | 'ses'
  | 'tok'
  | 'inv'
  | 'sso'
  | 'sat'
  | 'mail'
  | 'otp'
  | 'pky'
  | 'aus'
  | 'src'
  | 'key'
  | 'dst'
  | 'rdr'
  | 'rpl'
  | 'del'
  | 'chk'
  | 'aud'
  | 'trt';

/** Sorts by time, so lists by id are lists by age, and says what it is the id of. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${timedHex()}`;
}

/** Undefined before Node 24.16, although its types say otherwise. */
const builtIn = crypto.randomUUIDv7 as typeof crypto.randomUUIDv7 | undefined;

function timedHex(): string {
  return builtIn === undefined ? uuidV7(Date.now(), crypto.randomBytes(10)) : builtIn().replaceAll('-', '');
}

/** RFC 9562, version 7, without its hyphens: 48 bits of time, version, 12 random bits, variant, 62 random bits. */
export function uuidV7(now: number, random: Uint8Array): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes.set(random.subarray(0, 10), 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytes.toString('hex');
}

/** When an id was made. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(id.indexOf('_') + 1).slice(0, 12), 16) || 0);
}

/**
 * A browser that has signed in to an account keeps this cookie, which is sealed with the key ring and opens nothing: it says that wrong
 * passwords of others must not lock this browser out of the account, and that its tries are hashed before those of strangers.
 */
import { hash, randomBytes } from 'node:crypto';
import type { KeyRing } from '../../secrets/seal.ts';

export const DEVICE_COOKIE = '__Host-millrace-device';
export const DEVICE_DAYS = 180;

/** The cookie belongs to no row: the place only tells it from all other sealed values. */
const PLACE = { workspaceId: '', table: 'devices', column: 'cookie', rowId: '' };
const MAX_LENGTH = 500;

type Device = { account: string; id: string; madeAt: number };

export function makeDevice(keyRing: KeyRing, email: string, now: Date): string {
  const device: Device = { account: accountOf(email), id: randomBytes(12).toString('hex'), madeAt: now.getTime() };
  return keyRing.seal(JSON.stringify(device), PLACE).toString('base64url');
}

/** The id of the device, if it has signed in to this account; a cookie that is forged, of another account or too old is none. */
export function deviceOf(keyRing: KeyRing, cookie: string | undefined, email: string, now: Date): string | undefined {
  if (cookie === undefined || cookie.length > MAX_LENGTH) return undefined;
  try {
    const device = JSON.parse(keyRing.open(Buffer.from(cookie, 'base64url'), PLACE)) as Device;
    const isOld = now.getTime() - device.madeAt > DEVICE_DAYS * 86_400_000;
    return device.account === accountOf(email) && !isOld ? device.id : undefined;
  } catch {
    return undefined;
  }
}

/** An account as counters and cookies name it: without the address itself, and the same for an address without an account. */
export function accountOf(email: string): string {
  return hash('sha256', email.toLowerCase(), 'base64url');
}

/** Time-based one-time codes (RFC 6238) with SHA-1, six digits and steps of 30 seconds, as every authenticator app has them. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const SEED_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
/** Clocks of phones go wrong, and people type slowly: the code before the current one counts, and the one after it. */
const STEPS = [0, -1, 1] as const;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function stepAt(now: Date): number {
  return Math.floor(now.getTime() / STEP_MS);
}

/** RFC 4226, section 5.3: four bytes of the HMAC, from the place that its last half byte names. */
export function codeOf(seed: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', seed).update(counter).digest();
  const value = mac.readUInt32BE((mac.at(-1) ?? 0) & 0x0f) & 0x7f_ff_ff_ff;
  return String(value % 10 ** digits).padStart(digits, '0');
}

/** The time step whose code this is; undefined for a code of no step that counts now. */
export function stepOfCode(seed: Buffer, code: string, now: Date): number | undefined {
  const typed = Buffer.from(code);
  const current = stepAt(now);
  return STEPS.map((offset) => current + offset).find((step) => {
    const expected = Buffer.from(codeOf(seed, step));
    return expected.length === typed.length && timingSafeEqual(expected, typed);
  });
}

/** The address that authenticator apps read from a QR code. */
export function otpauthUri(seed: Buffer, { email, host }: { email: string; host: string }): string {
  const label = encodeURIComponent(`${host}:${email}`);
  return `otpauth://totp/${label}?secret=${toBase32(seed)}&issuer=${encodeURIComponent(host)}`;
}

/** RFC 4648, without padding. */
export function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((group) => BASE32.charAt(Number.parseInt(group.padEnd(5, '0'), 2))).join('');
}

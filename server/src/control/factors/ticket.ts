/**
 * A sign-in under way keeps this cookie, sealed with the key ring. One of kind `password` says that the password was right and waits for a
 * second factor; one of kind `passkey` only holds the challenge of a sign-in without a password. Tries and use are counted in PostgreSQL by
 * its id. It belongs to the kind of browser that began, as a session does.
 */
import { randomBytes } from 'node:crypto';
import type { KeyRing } from '../../secrets/seal.ts';
import { newChallenge } from './new-challenge.ts';

export const TICKET_MS = 5 * 60_000;

const PLACE = { workspaceId: '', table: 'sign_in_tickets', column: 'cookie', rowId: '' };
const MAX_LENGTH = 1_000;

type Sealed = { id: string; browser: string; challenge: string; madeAt: number };
export type Ticket = Sealed & ({ kind: 'password'; userId: string } | { kind: 'passkey' });

export type MadeTicket<Kind extends Ticket['kind']> = { ticket: Extract<Ticket, { kind: Kind }>; cookie: string };

export function makePasswordTicket(
  keyRing: KeyRing,
  { userId, browser, now }: { userId: string; browser: string; now: Date },
): MadeTicket<'password'> {
  return sealed(keyRing, { kind: 'password', userId, ...newTicket(browser, now) });
}

export function makePasskeyTicket(
  keyRing: KeyRing,
  { browser, now }: { browser: string; now: Date },
): MadeTicket<'passkey'> {
  return sealed(keyRing, { kind: 'passkey', ...newTicket(browser, now) });
}

/** Undefined for a cookie that is forged, too old, of another kind, or from another kind of browser. */
export function openTicket<Kind extends Ticket['kind']>(
  keyRing: KeyRing,
  cookie: string | undefined,
  { kind, browser, now }: { kind: Kind; browser: string; now: Date },
): Extract<Ticket, { kind: Kind }> | undefined {
  if (cookie === undefined || cookie.length > MAX_LENGTH) return undefined;
  try {
    const ticket = JSON.parse(keyRing.open(Buffer.from(cookie, 'base64url'), PLACE)) as Ticket;
    const isOld = now.getTime() - ticket.madeAt > TICKET_MS;
    if (isOld || ticket.kind !== kind || ticket.browser !== browser) return undefined;
    return ticket as Extract<Ticket, { kind: Kind }>;
  } catch {
    return undefined;
  }
}

function newTicket(browser: string, now: Date): Sealed {
  return { id: randomBytes(32).toString('base64url'), browser, challenge: newChallenge(), madeAt: now.getTime() };
}

function sealed<T extends Ticket>(keyRing: KeyRing, ticket: T): { ticket: T; cookie: string } {
  return { ticket, cookie: keyRing.seal(JSON.stringify(ticket), PLACE).toString('base64url') };
}

/** Decides whether a mail that could not be sent is tried again. Pure. */
import type { MailAnswer } from './open-mailer.ts';

/** The pauses after the first, second, … attempt; the last one for all further ones. */
export const MAIL_PAUSES_MS = [10_000, 60_000, 300_000, 900_000, 3_600_000] as const;
/** About six and a half hours. */
export const MAX_MAIL_ATTEMPTS = 10;

export type MailOutcome = { kind: 'retry'; afterMs: number } | { kind: 'dead'; why: string };

type Tried = { attempts: number; leftMs: number; failure: Extract<MailAnswer, { ok: false }> };

export function judgeMail({ attempts, leftMs, failure }: Tried): MailOutcome {
  const { isPermanent, why } = failure;
  if (isPermanent || attempts >= MAX_MAIL_ATTEMPTS) return { kind: 'dead', why };
  const afterMs = MAIL_PAUSES_MS[Math.min(attempts, MAIL_PAUSES_MS.length) - 1] ?? MAIL_PAUSES_MS[0];
  // Its link would have ended.
  return afterMs >= leftMs ? { kind: 'dead', why } : { kind: 'retry', afterMs };
}

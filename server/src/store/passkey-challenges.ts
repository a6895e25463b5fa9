import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type ChallengeKind = 'add' | 'confirm';

/** The time that a person has to answer the browser's question. */
const VALID = `interval '5 minutes'`;

/** A session has one challenge for each purpose: a new one ends the one before. */
export async function setPasskeyChallenge(
  tx: Tx,
  { sessionId, purpose, challenge }: { sessionId: string; purpose: ChallengeKind; challenge: string },
): Promise<void> {
  const sql = `INSERT INTO passkey_challenges (session_id, purpose, challenge, expires_at)
    VALUES ($1, $2, $3, now() + ${VALID})
    ON CONFLICT (session_id, purpose) DO UPDATE SET challenge = excluded.challenge, expires_at = excluded.expires_at`;
  await tx.query(sql, [sessionId, purpose, challenge]);
}

/** Uses the challenge up, whatever comes of it. */
export async function takePasskeyChallenge(
  tx: Tx,
  { sessionId, purpose }: { sessionId: string; purpose: ChallengeKind },
): Promise<string | undefined> {
  const sql = `DELETE FROM passkey_challenges WHERE session_id = $1 AND purpose = $2
    RETURNING challenge, expires_at > now() AS stands`;
  const row = await oneRow<{ challenge: string; stands: boolean }>(tx, sql, [sessionId, purpose]);
  return row?.stands === true ? row.challenge : undefined;
}

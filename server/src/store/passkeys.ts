import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type PasskeyRow = {
  id: string;
  user_id: string;
  credential_id: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
  name: string;
  created_at: Date;
  last_used_at: Date | null;
};

// The counter has 32 bits, so float8 holds it exactly.
const COLUMNS =
  'id, user_id, credential_id, public_key, counter::float8 AS counter, transports, name, created_at, last_used_at';

export type NewPasskey = {
  id: string;
  userId: string;
  credentialId: string;
  publicKey: Uint8Array;
  counter: number;
  transports: readonly string[];
  name: string;
};

export async function insertPasskey(tx: Tx, passkey: NewPasskey): Promise<PasskeyRow | undefined> {
  const { id, userId, credentialId, publicKey, counter, transports, name } = passkey;
  const sql = `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (credential_id) DO NOTHING RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [id, userId, credentialId, Buffer.from(publicKey), counter, transports, name]);
}

export function listPasskeys(tx: Tx, userId: string): Promise<PasskeyRow[]> {
  return tx.query(`SELECT ${COLUMNS} FROM passkeys WHERE user_id = $1 ORDER BY id`, [userId]);
}

export function findPasskey(tx: Tx, credentialId: string): Promise<PasskeyRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM passkeys WHERE credential_id = $1`, [credentialId]);
}

/** Of two concurrent uses with the same counter, one succeeds; a counter that went back has none. */
export async function usePasskey(tx: Tx, id: string, counter: number): Promise<boolean> {
  const sql = `UPDATE passkeys SET counter = $2, last_used_at = now()
    WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2::bigint = 0)) RETURNING id`;
  return (await tx.query(sql, [id, counter])).length > 0;
}

type Named = { id: string; userId: string };

export function renamePasskey(tx: Tx, { id, userId }: Named, name: string): Promise<PasskeyRow | undefined> {
  const sql = `UPDATE passkeys SET name = $3 WHERE id = $1 AND user_id = $2 RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [id, userId, name]);
}

export function deletePasskey(tx: Tx, { id, userId }: Named): Promise<PasskeyRow | undefined> {
  return oneRow(tx, `DELETE FROM passkeys WHERE id = $1 AND user_id = $2 RETURNING ${COLUMNS}`, [id, userId]);
}

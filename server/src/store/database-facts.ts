import type { Tx } from './open-store.ts';

export type DatabaseFacts = { version: string; bytes: number };

export async function readDatabaseFacts(tx: Tx): Promise<DatabaseFacts> {
  const sql = `SELECT current_setting('server_version') AS version, pg_database_size(current_database())::text AS bytes`;
  const [row] = await tx.query<{ version: string; bytes: string }>(sql);
  return { version: row?.version ?? '', bytes: Number(row?.bytes ?? 0) };
}

/** How many bytes of the config bucket each workspace takes. About: an entry's fixed parts are rounded up. */
import type { Tx } from './open-store.ts';

const SOURCE_BYTES = 400;
const KEY_BYTES = 70;
const USER_BYTES = 300;

const PARTS = [
  'SELECT workspace_id, sum(entry_bytes) AS bytes FROM destinations',
  `SELECT workspace_id, sum(octet_length(name) + ${SOURCE_BYTES}) AS bytes FROM sources`,
  `SELECT workspace_id, count(*) * ${KEY_BYTES} AS bytes FROM write_keys WHERE revoked_at IS NULL`,
  'SELECT workspace_id, sum(octet_length(name) + 5) AS bytes FROM source_events WHERE blocked',
  `SELECT workspace_id, count(*) * ${USER_BYTES} AS bytes FROM erased_users`,
];

/** By workspace, of all that the transaction sees. */
export async function configBytes(tx: Tx, workspaceId?: string): Promise<Map<string, number>> {
  const parts = PARTS.map((part) => {
    const where = part.includes('WHERE') ? 'AND' : 'WHERE';
    return `${part} ${where} ($1::text IS NULL OR workspace_id = $1) GROUP BY workspace_id`;
  });
  const sql = `SELECT workspace_id, sum(bytes)::float AS bytes FROM (${parts.join(' UNION ALL ')}) AS parts
    GROUP BY workspace_id`;
  const rows = await tx.query<{ workspace_id: string; bytes: number }>(sql, [workspaceId ?? null]);
  return new Map(rows.map((row) => [row.workspace_id, row.bytes]));
}

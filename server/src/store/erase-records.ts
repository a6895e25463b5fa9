import type { Tx } from './open-store.ts';

export type ErasedRecords = { workspaceId: string; userIds: string[]; sourceIds: string[]; before: Date };

/**
 * Takes a user out of the record of deliveries: what happened to an event stays, whose it was and what receivers answered
 * does not. Answers how many deliveries and refused samples there were. Tables that are not there hold nothing.
 */
export async function eraseRecords(tx: Tx, asked: ErasedRecords): Promise<{ deliveries: number; samples: number }> {
  return { deliveries: await eraseDeliveries(tx, asked), samples: await eraseSamples(tx, asked) };
}

async function eraseDeliveries(tx: Tx, { workspaceId, userIds, sourceIds, before }: ErasedRecords): Promise<number> {
  if (!(await isThere(tx, 'deliveries'))) return 0;
  const values = [workspaceId, userIds, sourceIds, before];
  const whose = 'workspace_id = $1 AND user_id = ANY($2) AND source_id = ANY($3) AND received_at < $4';
  if (await isThere(tx, 'attempts')) {
    const sql = `DELETE FROM attempts a USING deliveries d WHERE d.${whose.replaceAll(' AND ', ' AND d.')}
      AND a.workspace_id = $1 AND a.delivery_id = d.id AND a.received_on = d.received_on`;
    await tx.query(sql, values);
  }
  const sql = `UPDATE deliveries SET user_id = NULL, anonymous_id = NULL, reason = 'erased', sentence = NULL
    WHERE ${whose} RETURNING 1 AS one`;
  return (await tx.query(sql, values)).length;
}

/** A sample is a call as it was sent: it is searched for the id as text. */
async function eraseSamples(tx: Tx, { workspaceId, userIds, sourceIds }: ErasedRecords): Promise<number> {
  if (!(await isThere(tx, 'refusals'))) return 0;
  const sql = `UPDATE refusals SET samples = '[]' WHERE workspace_id = $1 AND source_id = ANY($3)
    AND EXISTS (SELECT FROM unnest($2::text[]) u WHERE strpos(samples::text, u) > 0) RETURNING 1 AS one`;
  return (await tx.query(sql, [workspaceId, userIds, sourceIds])).length;
}

export type NotificationRecord = { id: string; state: string; last_status: number | null };

/** What the record knows of deletion notifications. */
export async function findNotifications(tx: Tx, workspaceId: string, ids: string[]): Promise<NotificationRecord[]> {
  if (ids.length === 0 || !(await isThere(tx, 'deliveries'))) return [];
  const sql = 'SELECT id, state, last_status FROM deliveries WHERE workspace_id = $1 AND id = ANY($2)';
  return tx.query(sql, [workspaceId, ids]);
}

async function isThere(tx: Tx, table: string): Promise<boolean> {
  const [row] = await tx.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [table]);
  return row?.there === true;
}

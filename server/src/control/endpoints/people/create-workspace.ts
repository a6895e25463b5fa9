import { appendAudit } from '../../../store/audit-log.ts';
import { newId } from '../../../store/new-id.ts';
import type { Tx } from '../../../store/open-store.ts';
import { insertWorkspace } from '../../../store/workspaces.ts';

/** Creates a workspace with the first entry of its audit log, and without a member. */
export async function createWorkspace(
  tx: Tx,
  name: string,
  { at, actor }: { at: Date; actor: Record<string, string> },
): Promise<string> {
  const id = newId('ws');
  await insertWorkspace(tx, { id, name });
  await appendAudit(tx, id, { at, actor, action: 'workspace.created', objectId: id, details: { name } });
  return id;
}

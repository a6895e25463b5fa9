import { appendAudit } from '../../store/audit-log.ts';
import { membershipsOf } from '../../store/members.ts';
import type { Tx } from '../../store/open-store.ts';

export type AccountChange = {
  at: Date;
  /** `visitor` for a request without a session, `operator` for the command line of the server. */
  actor: { kind: 'user' | 'visitor' | 'operator'; id?: string; sessionId?: string; address?: string };
  action: string;
  details?: Record<string, unknown>;
};

/** Writes what happened to an account to the audit log of every workspace that it is in. */
export async function auditAccount(tx: Tx, userId: string, change: AccountChange): Promise<void> {
  const { at, actor, action, details = {} } = change;
  const memberships = await membershipsOf(tx, userId);
  // Always in the same order: each entry locks its workspace's log.
  for (const workspaceId of memberships.map((member) => member.workspace_id).toSorted()) {
    await appendAudit(tx, workspaceId, { at, actor, action, objectId: userId, details });
  }
}

import type { JetStreamManager } from '@nats-io/jetstream';
import { AUDIT_STREAM, auditSubject } from '../layout/layout.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';
import { readLast } from '../nats/read-subject.ts';

/** Where a workspace's audit log ended once, and the hash of that entry: everything before it is fixed by it. */
export type AuditAnchor = { sequence: number; hash: string };

export type AuditAnchors = {
  last(workspaceId: string): Promise<AuditAnchor | undefined>;
  put(workspaceId: string, anchor: AuditAnchor): Promise<'stored' | 'full' | 'unavailable'>;
};

export function openAuditAnchors({ manager, ...needs }: DurableNeeds & { manager: JetStreamManager }): AuditAnchors {
  return {
    async last(workspaceId) {
      const found = await readLast(manager, AUDIT_STREAM, auditSubject(workspaceId));
      return found?.json<AuditAnchor>();
    },
    async put(workspaceId, { sequence, hash }) {
      const subject = auditSubject(workspaceId);
      const id = `${workspaceId}/${sequence}/${hash}`;
      const payload = Buffer.from(JSON.stringify({ sequence, hash }));
      return keptOrNot(await publishDurably({ subject, id, payload }, needs));
    },
  };
}

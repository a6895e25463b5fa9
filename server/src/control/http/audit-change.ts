import { appendAudit } from '../../store/audit-log.ts';
import type { Tx } from '../../store/open-store.ts';
import { addToOutbox, type Projected } from '../../store/outbox.ts';
import { type Actor, auditActor } from '../access/actor.ts';
import { checkEntry, MAX_ENTRY_BYTES } from '../settings/config-limits.ts';
import type { ControlNeeds } from './control-needs.ts';

export type Change = {
  details?: Record<string, unknown>;
  /** Set when the change has to reach the config bucket: it is added to the outbox. */
  projects?: Projected['kind'];
  /** There is more configuration than before: the limits of the entry and of the workspace are checked. */
  grows?: boolean;
};

/** Appends one entry to the audit log of the workspace. The action is `noun.past`: source.created. */
export type Audit = (action: string, objectId: string, change?: Change) => Promise<void>;

/** The `audit` of a request: it writes in the transaction of the change, so that both commit or neither does. */
export function openAudit(
  tx: Tx,
  actor: Actor,
  { now, configLimits }: Pick<ControlNeeds, 'now' | 'configLimits'>,
): Audit {
  const { workspaceId } = actor;
  return async (action, objectId, { details = {}, projects, grows = false } = {}) => {
    await appendAudit(tx, workspaceId, { at: now(), actor: auditActor(actor), action, objectId, details });
    if (projects !== undefined) await addToOutbox(tx, { kind: projects, workspaceId, objectId });
    if (!grows) return;
    // The audit log serializes the changes of a workspace: checked after it, each change counts those before it.
    const isEntry = projects === 'source' || projects === 'destination';
    const addedBytes = isEntry ? await checkEntry(tx, projects, objectId) : MAX_ENTRY_BYTES;
    await configLimits?.check(tx, workspaceId, addedBytes);
  };
}

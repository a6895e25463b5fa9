import { appendAudit } from '../../store/audit-log.ts';
import { addToOutbox, type Projected } from '../../store/outbox.ts';
import { auditActor } from '../access/actor.ts';
import { checkEntry, MAX_ENTRY_BYTES } from '../settings/config-limits.ts';
import type { ControlNeeds } from './control-needs.ts';
import type { Asked } from './route.ts';

export type Change = {
  /** `noun.past`: source.created. */
  action: string;
  objectId: string;
  details?: Record<string, unknown>;
  /** Set when the config bucket has to be told. */
  projects?: Projected['kind'];
  /** There is more configuration than before: whether there may be is checked. */
  grows?: boolean;
};

/** In the same transaction as the change: who did it, and that the config bucket has to hear of it. */
export async function recordChange(
  { tx, actor }: Asked,
  { action, objectId, details = {}, projects, grows = false }: Change,
  { now, configLimits }: ControlNeeds,
): Promise<void> {
  const { workspaceId } = actor;
  await appendAudit(tx, workspaceId, { at: now(), actor: auditActor(actor), action, objectId, details });
  if (projects !== undefined) await addToOutbox(tx, { kind: projects, workspaceId, objectId });
  if (!grows) return;
  // After the audit log, where the changes of a workspace wait for each other: each counts those before it.
  const isEntry = projects === 'source' || projects === 'destination';
  const addedBytes = isEntry ? await checkEntry(tx, projects, objectId) : MAX_ENTRY_BYTES;
  await configLimits?.check(tx, workspaceId, addedBytes);
}

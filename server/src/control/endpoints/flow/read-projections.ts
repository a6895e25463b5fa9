import type { Projection } from '@millrace/contract/control';
import type { Tx } from '../../../store/open-store.ts';
import { unprojected } from '../../../store/projection-failures.ts';

const APPLIED: Projection = { state: 'applied', since: null, why: null };

/** For each of these sources or destinations, whether collect and deliver already act on its current row. */
export async function readProjections(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<(id: string) => Projection> {
  const byId = new Map<string, Projection>();
  for (const { object_id: id, since, why } of await unprojected(tx, workspaceId, ids)) {
    // A change that still waits is newer than one that was refused.
    if (why !== null && byId.has(id)) continue;
    byId.set(id, { state: why === null ? 'pending' : 'failed', since: since.toISOString(), why });
  }
  return (id) => byId.get(id) ?? APPLIED;
}

import type { AcceptedEvent } from '@millrace/contract';
import { userHash, withheld } from '../../../domain/withheld.ts';
import { usersToProject } from '../../../store/erased-users.ts';
import type { Tx } from '../../../store/open-store.ts';
import { combine } from '../../../stream/config/user-index.ts';

/** Whether an event may be shown: those of erased and suppressed users may not. Only the users of these events are looked up. */
export async function readShown(
  tx: Tx,
  { workspaceId, sourceId }: { workspaceId: string; sourceId: string },
  events: readonly AcceptedEvent[],
): Promise<(event: AcceptedEvent) => boolean> {
  const ids = events.flatMap(({ userId, previousId }) => [userId, previousId].filter((id) => id !== undefined));
  const hashes = new Map([...new Set(ids)].map((id) => [id, userHash(workspaceId, id)]));
  const users = new Map((await usersToProject(tx, [...hashes.values()])).map((user) => [user.id, user]));
  return (event) => withheld(event, (id) => combine(users.get(hashes.get(id) ?? ''), sourceId)) === undefined;
}

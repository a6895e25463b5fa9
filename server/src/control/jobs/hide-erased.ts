import type { AcceptedEvent } from '@millrace/contract';
import { openBreather } from '../../breathe.ts';
import type { Routing } from '../../domain/route-event.ts';
import { namesIn, userHash, withheld } from '../../domain/withheld.ts';
import { type ProjectedUser, usersToProject } from '../../store/erased-users.ts';
import type { Tx } from '../../store/open-store.ts';
import { combine } from '../../stream/config/user-index.ts';

/** The erased and suppressed among the users of these events, by their hash. No other users are looked up. */
export async function readErased(
  tx: Tx,
  workspaceId: string,
  events: readonly AcceptedEvent[],
): Promise<ReadonlyMap<string, ProjectedUser>> {
  const breathe = openBreather();
  const hashes: string[] = [];
  for (const name of new Set(events.flatMap(namesIn))) {
    hashes.push(userHash(workspaceId, name));
    await breathe();
  }
  return new Map((await usersToProject(tx, hashes)).map((user) => [user.id, user]));
}

/** Says why an event of a source is withheld, by the marks of these users. */
export function withheldBy(
  users: ReadonlyMap<string, ProjectedUser>,
  { workspaceId, sourceId }: { workspaceId: string; sourceId: string },
): NonNullable<Routing['withheld']> {
  const markOf = (id: string) => combine(users.get(userHash(workspaceId, id)), sourceId);
  return (event) => (users.size === 0 ? undefined : withheld(event, markOf));
}

/** Whether an event may be shown: those of erased and suppressed users may not. */
export async function readShown(
  tx: Tx,
  { workspaceId, sourceId }: { workspaceId: string; sourceId: string },
  events: readonly AcceptedEvent[],
): Promise<(event: AcceptedEvent) => boolean> {
  const why = withheldBy(await readErased(tx, workspaceId, events), { workspaceId, sourceId });
  return (event) => why(event) === undefined;
}

/** The users of each workspace who were erased or are suppressed. Compute leaves their events out. */
import { userHash, withheld } from '../domain/withheld.ts';
import { countErasures, erasedUsersOf, erasuresVersion, type ProjectedUser } from '../store/erased-users.ts';
import type { Store, Tx } from '../store/open-store.ts';
import { combine } from '../stream/config/user-index.ts';
import type { Marks, WithheldUsers } from './profiles/withheld-marks.ts';

type Known = Marks & { version: string };

export function openWithheldUsers(store: Store): WithheldUsers {
  const known = new Map<string, Known>();
  let newest = 0;

  async function read(tx: Tx, workspaceId: string, erasures: number): Promise<void> {
    const before = known.get(workspaceId);
    const version = await erasuresVersion(tx, workspaceId);
    if (version === before?.version) known.set(workspaceId, { ...before, erasures });
    else known.set(workspaceId, { version, ...marksOf(workspaceId, await erasedUsersOf(tx, workspaceId), erasures) });
  }

  return {
    async refresh(workspaceIds) {
      const stale = [...workspaceIds].filter((workspaceId) => (known.get(workspaceId)?.erasures ?? -1) < newest);
      if (stale.length === 0) return;
      await store.asSystem(async (tx) => {
        // The number first: a mark that comes after it is read again at worst.
        const erasures = await countErasures(tx);
        newest = Math.max(newest, erasures);
        for (const workspaceId of stale) await read(tx, workspaceId, erasures);
      });
    },
    marksOf: (workspaceId) => known.get(workspaceId),
    seen(erasures) {
      newest = Math.max(newest, erasures);
    },
  };
}

function marksOf(workspaceId: string, rows: readonly ProjectedUser[], erasures: number): Marks {
  const users = new Map(rows.map((user) => [user.id, user]));
  return {
    erasures,
    isWithheld(sourceId, event) {
      if (users.size === 0) return false;
      return withheld(event, (name) => combine(users.get(userHash(workspaceId, name)), sourceId)) !== undefined;
    },
  };
}

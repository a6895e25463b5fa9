/** The users of each workspace who were erased or are suppressed, read again when they change. Compute leaves their events out. */
import type { AcceptedEvent } from '@millrace/contract';
import { userHash, withheld } from '../domain/withheld.ts';
import { erasedUsersOf, erasuresVersion, type ProjectedUser } from '../store/erased-users.ts';
import type { Store } from '../store/open-store.ts';
import { combine } from '../stream/config/user-index.ts';

export type WithheldUsers = {
  /** Reads the marks of these workspaces, unless they were read a moment ago. */
  refresh(workspaceIds: Iterable<string>): Promise<void>;
  isWithheld(workspaceId: string, sourceId: string, event: AcceptedEvent): boolean;
};

/** A deletion waits for ten seconds before it erases what processes may still have added. */
const KEEP_MS = 3_000;

type Marks = { version: string; readAt: number; users: ReadonlyMap<string, ProjectedUser> };

export function openWithheldUsers(store: Store): WithheldUsers {
  const known = new Map<string, Marks>();
  return {
    async refresh(workspaceIds) {
      const readAt = performance.now();
      for (const workspaceId of workspaceIds) {
        const before = known.get(workspaceId);
        if (before !== undefined && readAt - before.readAt < KEEP_MS) continue;
        const marks = await store.asSystem(async (tx) => {
          const version = await erasuresVersion(tx, workspaceId);
          if (version === before?.version) return before;
          return { version, users: new Map((await erasedUsersOf(tx, workspaceId)).map((user) => [user.id, user])) };
        });
        known.set(workspaceId, { ...marks, readAt });
      }
    },
    isWithheld(workspaceId, sourceId, event) {
      const users = known.get(workspaceId)?.users;
      if (users === undefined || users.size === 0) return false;
      return withheld(event, (id) => combine(users.get(userHash(workspaceId, id)), sourceId)) !== undefined;
    },
  };
}

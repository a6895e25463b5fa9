import { type UserMark, userHash } from '../../domain/withheld.ts';
import type { UserConfig } from '../../domain/configuration.ts';

type Workspace = { users: Map<string, UserConfig>; lastErasureAt: number };

/** Erased and suppressed users by workspace: a workspace without any costs nothing to ask. */
export function indexUsers() {
  const workspaces = new Map<string, Workspace>();
  const workspaceOfHash = new Map<string, string>();
  return {
    set(userId: string, user: UserConfig | undefined): void {
      const before = workspaceOfHash.get(userId);
      if (before !== undefined) workspaces.get(before)?.users.delete(userId);
      workspaceOfHash.delete(userId);
      if (user === undefined) return;
      const { workspaceId } = user;
      const workspace = workspaces.get(workspaceId) ?? { users: new Map<string, UserConfig>(), lastErasureAt: 0 };
      for (const { erasedBefore } of user.marks) {
        workspace.lastErasureAt = Math.max(workspace.lastErasureAt, Date.parse(erasedBefore));
      }
      workspace.users.set(userId, user);
      workspaces.set(workspaceId, workspace);
      workspaceOfHash.set(userId, workspaceId);
    },
    has: (userId: string): boolean => workspaceOfHash.has(userId),
    hasAny: (workspaceId: string): boolean => (workspaces.get(workspaceId)?.users.size ?? 0) > 0,
    lastErasureAt: (workspaceId: string): number | undefined => workspaces.get(workspaceId)?.lastErasureAt,
    markOf({ workspaceId, sourceId }: { workspaceId: string; sourceId: string }, userId: string): UserMark | undefined {
      const users = workspaces.get(workspaceId)?.users;
      if (users === undefined || users.size === 0) return undefined;
      return combine(users.get(userHash(workspaceId, userId)), sourceId);
    },
  };
}

/** The marks for all sources and for this one, together. */
export function combine(user: Pick<UserConfig, 'marks'> | undefined, sourceId: string): UserMark | undefined {
  const marks = (user?.marks ?? []).filter((mark) => mark.sourceId === '' || mark.sourceId === sourceId);
  if (marks.length === 0) return undefined;
  return {
    erasedBefore: Math.max(...marks.map(({ erasedBefore }) => Date.parse(erasedBefore))),
    isSuppressed: marks.some(({ suppressed }) => suppressed),
  };
}

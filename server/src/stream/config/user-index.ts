import type { UserConfig } from '../../domain/configuration.ts';
import { readUserConfig } from '../../domain/read-config.ts';
import { type UserMark, userHash } from '../../domain/withheld.ts';
import { NO_RECORD, openByteTable } from './byte-table.ts';
import { readOrKeep } from './read-or-keep.ts';

export type UserIndex = ReturnType<typeof indexUsers>;

type Workspace = { users: number; lastErasureAt: number };

/** Erased and suppressed users, kept as bytes. A workspace without any costs nothing to ask. */
export function indexUsers() {
  const texts = openByteTable();
  const workspaces = new Map<string, Workspace>();

  function find(userId: string): UserConfig | undefined {
    const record = texts.find(userId);
    return record === NO_RECORD ? undefined : readOrKeep(readUserConfig(texts.textOf(record)));
  }

  function count({ workspaceId, marks }: UserConfig): void {
    const workspace = workspaces.get(workspaceId) ?? { users: 0, lastErasureAt: 0 };
    for (const { erasedBefore } of marks) {
      workspace.lastErasureAt = Math.max(workspace.lastErasureAt, Date.parse(erasedBefore));
    }
    workspace.users += 1;
    workspaces.set(workspaceId, workspace);
  }

  return {
    /** Throws for an entry that is unreadable or of a newer format: the one before stays. */
    set(userId: string, text: string | undefined): void {
      const user = text === undefined ? undefined : readOrKeep(readUserConfig(text));
      const before = find(userId);
      const workspaceBefore = before && workspaces.get(before.workspaceId);
      if (workspaceBefore !== undefined) workspaceBefore.users -= 1;
      if (user === undefined || text === undefined) {
        texts.remove(userId);
        return;
      }
      texts.put(userId, text);
      count(user);
    },
    has: (userId: string): boolean => texts.find(userId) !== NO_RECORD,
    size: texts.size,
    hasAny: (workspaceId: string): boolean => (workspaces.get(workspaceId)?.users ?? 0) > 0,
    lastErasureAt: (workspaceId: string): number | undefined => workspaces.get(workspaceId)?.lastErasureAt,
    markOf({ workspaceId, sourceId }: { workspaceId: string; sourceId: string }, userId: string): UserMark | undefined {
      if ((workspaces.get(workspaceId)?.users ?? 0) === 0) return undefined;
      const user = find(userHash(workspaceId, userId));
      return user?.workspaceId === workspaceId ? combine(user, sourceId) : undefined;
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

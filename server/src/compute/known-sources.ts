/** The owners of sources, learned when their first events come: a source never changes its workspace. */
import { sourceOwners } from '../store/sources.ts';
import type { Store } from '../store/open-store.ts';

export type KnownSources = {
  /** Undefined for one that is not known, that is gone, or whose calls Millrace made itself. */
  workspaceOf(sourceId: string): string | undefined;
  /** Whether its events may count. Those of a source that is not known yet are read. */
  isWanted(sourceId: string): boolean;
  /** Looks up those that are not known yet. */
  learn(sourceIds: Iterable<string>): Promise<void>;
};

/** A source without a row may be one whose row comes a moment after its first event: a backup restored, a clock. */
const FORGET_MISSING_MS = 60_000;

export function openKnownSources(store: Store, hasDefinitions: (workspaceId: string) => boolean): KnownSources {
  const owners = new Map<string, string>();
  const missing = new Map<string, number>();
  const isMissing = (sourceId: string) => {
    const since = missing.get(sourceId);
    if (since === undefined) return false;
    if (performance.now() - since < FORGET_MISSING_MS) return true;
    missing.delete(sourceId);
    return false;
  };
  return {
    workspaceOf: (sourceId) => owners.get(sourceId),
    isWanted(sourceId) {
      const workspaceId = owners.get(sourceId);
      return workspaceId === undefined ? !isMissing(sourceId) : hasDefinitions(workspaceId);
    },
    async learn(sourceIds) {
      const unknown = [...new Set(sourceIds)].filter((id) => !owners.has(id) && !isMissing(id));
      if (unknown.length === 0) return;
      for (const { id, workspace_id: workspaceId, kind } of await store.asSystem((tx) => sourceOwners(tx, unknown))) {
        if (kind === 'collected') owners.set(id, workspaceId);
      }
      for (const id of unknown) if (!owners.has(id)) missing.set(id, performance.now());
    },
  };
}

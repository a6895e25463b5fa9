import { type DestinationOwner, readDestinationConfig } from '../../domain/read-config.ts';
import type { DestinationConfig, ProjectedLimits, SourceConfig } from '../../domain/configuration.ts';

/** Sources by id, and by each of their keys. */
export function indexSources() {
  const byId = new Map<string, SourceConfig>();
  const byHash = new Map<string, SourceConfig>();
  const blocked = new Map<string, ReadonlySet<string>>();
  /** By workspace. All its sources carry the same limits: the entry that was written last is right. */
  const limits = new Map<string, ProjectedLimits>();
  return {
    set(id: string, source: SourceConfig | undefined): void {
      const before = byId.get(id);
      // A key may have moved to another source meanwhile: only the keys that are still this one's are removed.
      for (const hash of before?.writeKeyHashes ?? []) if (byHash.get(hash) === before) byHash.delete(hash);
      byId.delete(id);
      blocked.delete(id);
      if (source === undefined) return;
      byId.set(id, source);
      if (source.limits === undefined) limits.delete(source.workspaceId);
      else limits.set(source.workspaceId, source.limits);
      for (const hash of source.writeKeyHashes) byHash.set(hash, source);
      if (source.blockedEvents !== undefined) blocked.set(id, new Set(source.blockedEvents));
    },
    limits: (): ReadonlyMap<string, ProjectedLimits> => limits,
    has: (id: string): boolean => byId.has(id),
    byId: (id: string): SourceConfig | undefined => byId.get(id),
    byKeyHash: (hash: string): SourceConfig | undefined => byHash.get(hash),
    isEventBlocked: (id: string, event: string): boolean => blocked.get(id)?.has(event) === true,
  };
}

const NONE: readonly DestinationConfig[] = [];

/** The destinations of one source; `list` is made when it is first asked for. */
type Group = { sourceId: string; members: Set<Kept>; list: readonly DestinationConfig[] | undefined };
/** Text until it is first used: of a hundred thousand destinations most are quiet, and text takes the least memory. */
type Kept = { id: string; group: Group; value: string | DestinationConfig };

/** Destinations by id and by source. */
export function indexDestinations() {
  const byId = new Map<string, Kept>();
  const groups = new Map<string, Group>();
  const former = rememberFormer();
  return {
    former: former.ownerOf,
    set(id: string, text: string | undefined): void {
      const before = byId.get(id);
      if (before !== undefined) {
        leave(before, groups);
        byId.delete(id);
      }
      if (text === undefined) {
        if (before !== undefined) former.remember(parsed(before));
        return;
      }
      const sourceId = sourceOf(text) ?? before?.group.sourceId ?? '';
      const group = groups.get(sourceId) ?? { sourceId, members: new Set(), list: undefined };
      const kept = { id, group, value: text };
      groups.set(sourceId, group);
      group.members.add(kept);
      group.list = undefined;
      byId.set(id, kept);
    },
    has: (id: string): boolean => byId.has(id),
    byId(id: string): DestinationConfig | undefined {
      const kept = byId.get(id);
      return kept === undefined ? undefined : parsed(kept);
    },
    ofSource(sourceId: string): readonly DestinationConfig[] {
      const group = groups.get(sourceId);
      if (group === undefined) return NONE;
      group.list ??= [...group.members].map(parsed);
      return group.list;
    },
  };
}

/** Enough for the destinations whose lanes are being given up. */
const REMEMBERED = 10_000;

/** The owners of destinations that were deleted lately. */
function rememberFormer() {
  const owners = new Map<string, DestinationOwner>();
  return {
    ownerOf: (id: string): DestinationOwner | undefined => owners.get(id),
    remember({ id, workspaceId, sourceId }: DestinationConfig): void {
      owners.delete(id);
      owners.set(id, { workspaceId, sourceId });
      const [oldest] = owners.keys();
      if (owners.size > REMEMBERED && oldest !== undefined) owners.delete(oldest);
    },
  };
}

function leave(kept: Kept, groups: Map<string, Group>): void {
  const { group } = kept;
  group.members.delete(kept);
  group.list = undefined;
  if (group.members.size === 0) groups.delete(group.sourceId);
}

function parsed(kept: Kept): DestinationConfig {
  if (typeof kept.value === 'string') kept.value = understood(kept.value, kept);
  return kept.value;
}

/** An unreadable destination still exists: were it missing, its deliveries would be given up as those of a deleted one. */
function understood(text: string, { id, group: { sourceId } }: Kept): DestinationConfig {
  const read = readDestinationConfig(text);
  if (read.ok) return read.value;
  const workspaceId = read.owner?.workspaceId ?? '';
  const nothing = {
    catalog: '',
    name: id,
    enabled: true,
    paused: true,
    settings: {},
    updatedAt: new Date(0).toISOString(),
  };
  return { id, workspaceId, sourceId, ...nothing, notUnderstood: read.why };
}

/** Every version has this field. The rest is not read: there are many entries, and most of them are quiet. */
function sourceOf(text: string): string | undefined {
  try {
    const value = JSON.parse(text) as { sourceId?: unknown } | null;
    return typeof value?.sourceId === 'string' ? value.sourceId : undefined;
  } catch {
    return undefined;
  }
}

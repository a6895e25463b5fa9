import type { AcceptedEvent } from '@millrace/contract';
import type { CatalogEntry, ReplayRange } from '@millrace/contract/control';
import type { DestinationConfig } from '../../domain/configuration.ts';
import { routeEvent, type Routing, whyNotUnderstood } from '../../domain/route-event.ts';
import { erasedUsersOf, erasuresVersion, type ProjectedUser } from '../../store/erased-users.ts';
import type { Tx } from '../../store/open-store.ts';
import { destinationsToProject, type ProjectedSource, sourcesToProject } from '../../store/projection.ts';
import { withheldBy } from './hide-erased.ts';
import { destinationConfig } from '../../projection/config-entries.ts';

/** Routes events for one destination by the rules of today. */
export type ReplayRouting = {
  /** Undefined for events that it gets. */
  skipReason(event: AcceptedEvent): string | undefined;
  /** Whether the events are of the computed source, which the destination need not be attached to. */
  isComputed: boolean;
};

/** Undefined when the source or the destination is gone. */
export async function readRouting(
  tx: Tx,
  { sourceId, destinationId }: Pick<ReplayRange, 'sourceId' | 'destinationId'>,
  catalog: readonly CatalogEntry[],
  marks = openMarks(),
): Promise<ReplayRouting | undefined> {
  const [source] = await sourcesToProject(tx, [sourceId]);
  const [row] = await destinationsToProject(tx, [destinationId]);
  if (source === undefined || row === undefined || !isReplayable(source, row)) return undefined;
  const routing = await routingFor(tx, { source, destination: destinationConfig(row), catalog, marks });
  // The job waits for a process that understands the destination.
  const why = whyNotUnderstood(destinationConfig(row), routing.accepts);
  if (why !== undefined) throw new Error(why);
  return {
    skipReason(event) {
      const [routed] = routeEvent(event, routing);
      return routed?.kind === 'skip' ? routed.reason : undefined;
    },
    isComputed: source.kind === 'computed',
  };
}

type Owned = { workspace_id: string; source_id: string };

/** Whether events of the source can be for the destination: definitions send to any destination of the workspace. */
export function isReplayable(
  source: Pick<ProjectedSource, 'id' | 'workspace_id' | 'kind'>,
  destination: Owned,
): boolean {
  if (source.kind === 'computed') return destination.workspace_id === source.workspace_id;
  return destination.source_id === source.id;
}

type RoutingFor = {
  source: ProjectedSource;
  destination: DestinationConfig;
  catalog: readonly CatalogEntry[];
  marks?: Marks;
};

/** The rules for the events of a source and one destination, saved or not: the store knows the same as deliver's configuration. */
export async function routingFor(
  tx: Tx,
  { source, destination, catalog, marks = openMarks() }: RoutingFor,
): Promise<Routing> {
  const blocked = new Set(source.blocked_events);
  const users = await marks.read(tx, source.workspace_id);
  return {
    destinations: [destination],
    withheld: withheldBy(users, { workspaceId: source.workspace_id, sourceId: source.id }),
    isBlocked: (name) => blocked.has(name),
    accepts: (name) => catalog.find((entry) => entry.name === name)?.accepts,
  };
}

export type Marks = { read(tx: Tx, workspaceId: string): Promise<ReadonlyMap<string, ProjectedUser>> };

/** A cache of the erased and suppressed users of each workspace, read again only after a change. */
export function openMarks(): Marks {
  const known = new Map<string, { version: string; users: ReadonlyMap<string, ProjectedUser> }>();
  return {
    async read(tx, workspaceId) {
      const version = await erasuresVersion(tx, workspaceId);
      const before = known.get(workspaceId);
      if (before?.version === version) return before.users;
      const users = new Map((await erasedUsersOf(tx, workspaceId)).map((user) => [user.id, user]));
      known.set(workspaceId, { version, users });
      return users;
    },
  };
}

/** Counts the events that are delivered, and those that are skipped by reason. */
export function openTally(routing: ReplayRouting) {
  const skipped: Record<string, number> = {};
  let delivered = 0;
  return {
    skipped,
    delivered: () => delivered,
    isDelivered(event: AcceptedEvent): boolean {
      const reason = routing.skipReason(event);
      if (reason === undefined) delivered += 1;
      else skipped[reason] = (skipped[reason] ?? 0) + 1;
      return reason === undefined;
    },
  };
}

/** How many profiles a workspace has, and how many of them each definition. Every reader adds to rows of its own. */
import type { DefinitionNumber, ProfileChanges } from '../../compute/profiles/profile-store.ts';
import type { Statement, Tx } from '../open-store.ts';
import type { Locks } from './write-profiles.ts';
import { isMember } from './write-transitions.ts';

export type SizeChanges = {
  /** By workspace. */
  profiles: Map<string, number>;
  members: Map<DefinitionNumber, { workspaceId: string; by: number }>;
};

/** Before the changes are written: `locks` tell which profiles are new. */
export function sizeChanges(
  { profiles, links, transitions }: ProfileChanges,
  locks: Locks,
  workspaceOf: (key: string) => string,
): SizeChanges {
  const changes: SizeChanges = { profiles: new Map(), members: new Map() };
  const count = (workspaceId: string, by: number) =>
    changes.profiles.set(workspaceId, (changes.profiles.get(workspaceId) ?? 0) + by);
  const countMember = (definition: DefinitionNumber, workspaceId: string, by: number) => {
    const sum = changes.members.get(definition);
    if (sum === undefined) changes.members.set(definition, { workspaceId, by });
    else sum.by += by;
  };
  for (const { key, workspaceId } of profiles) if (locks.get(key) === 'absent') count(workspaceId, 1);
  for (const { from, workspaceId, left } of links) {
    const lock = locks.get(from);
    if (lock !== undefined && lock !== 'absent' && !('link' in lock)) count(workspaceId, -1);
    for (const definition of left) countMember(definition, workspaceId, -1);
  }
  for (const { definition, kind, key, value, previous } of transitions) {
    const by = Number(isMember(kind, value)) - Number(isMember(kind, previous));
    if (by !== 0) countMember(definition, workspaceOf(key), by);
  }
  return changes;
}

const ADD_PROFILES: Statement = {
  name: 'profile-counts-add',
  text: `INSERT INTO profile_counts AS c (workspace_id, stream, profiles)
    SELECT workspace_id, $1, profiles FROM unnest($2::text[], $3::int8[]) AS given (workspace_id, profiles) ORDER BY 1
    ON CONFLICT (workspace_id, stream) DO UPDATE SET profiles = c.profiles + excluded.profiles`,
};
const ADD_MEMBERS: Statement = {
  name: 'membership-sizes-add',
  text: `INSERT INTO membership_sizes AS s (stream, definition, workspace_id, members)
    SELECT $1, definition, workspace_id, members
    FROM unnest($2::int4[], $3::text[], $4::int8[]) AS given (definition, workspace_id, members) ORDER BY 2
    ON CONFLICT (definition, stream) DO UPDATE SET members = s.members + excluded.members`,
};

export async function addSizes(tx: Tx, stream: string, { profiles, members }: SizeChanges): Promise<void> {
  const counted = [...profiles].filter(([, by]) => by !== 0);
  if (counted.length > 0) {
    await tx.query(ADD_PROFILES, [stream, counted.map(([id]) => id), counted.map(([, by]) => by)]);
  }
  const sized = [...members].filter(([, { by }]) => by !== 0);
  if (sized.length > 0) {
    const column = <T>(of: (each: (typeof sized)[number]) => T) => sized.map(of);
    await tx.query(ADD_MEMBERS, [
      stream,
      column(([definition]) => definition),
      column(([, { workspaceId }]) => workspaceId),
      column(([, { by }]) => by),
    ]);
  }
}

/** The number of members of each definition, or of profiles that have a value of it. */
export async function membershipSizes(tx: Tx, workspaceId: string): Promise<Map<DefinitionNumber, number>> {
  const sql = `SELECT definition, sum(members)::float8 AS members FROM membership_sizes WHERE workspace_id = $1 GROUP BY 1`;
  const rows = await tx.query<{ definition: number; members: number }>(sql, [workspaceId]);
  return new Map(rows.map(({ definition, members }) => [definition, members]));
}

export async function countProfiles(tx: Tx, workspaceId: string): Promise<number> {
  const sql = 'SELECT coalesce(sum(profiles), 0)::float8 AS profiles FROM profile_counts WHERE workspace_id = $1';
  const [row] = await tx.query<{ profiles: number }>(sql, [workspaceId]);
  return row?.profiles ?? 0;
}

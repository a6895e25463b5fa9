import { type ProfileKey, profileKey } from '../../compute/profiles/profile-key.ts';
import type { Tx } from '../open-store.ts';
import { linkedIds, targetOf } from './read-profiles.ts';
import { addSizes, type SizeChanges } from './sizes.ts';

export type ErasedProfileCounts = { profiles: number; memberships: number; history: number };

/** Sizes that no reader changes: see sizes.ts. */
const ERASURES = 'erasures';

/**
 * Erases users from audiences: profiles, links, timers, memberships, history and everything that is to be sent. Every id that is linked
 * to a user goes as well. An id that an alias has made part of another user takes that user with it: their events are one profile and
 * cannot be told apart. Returns how many profiles, memberships and changes there were.
 */
export async function eraseProfiles(
  tx: Tx,
  workspaceId: string,
  userIds: readonly string[],
): Promise<ErasedProfileCounts> {
  const { keys, profiles } = await lockToErase(tx, workspaceId, userIds);
  const erased = { profiles, memberships: 0, history: 0 };
  await tx.query(
    `DELETE FROM profile_timers t USING profiles p
    WHERE p.profile_key = ANY($1::uuid[]) AND t.due_at = p.due_at AND t.profile_key = p.profile_key`,
    [keys],
  );
  const members = await tx.query<{ definition: number }>(MEMBERSHIPS, [keys, workspaceId]);
  erased.memberships = members.length;
  erased.history = (
    await tx.query('DELETE FROM membership_changes WHERE profile_key = ANY($1::uuid[]) RETURNING 1 AS one', [keys])
  ).length;
  for (const table of ['compute_outbox', 'profiles']) {
    await tx.query(`DELETE FROM ${table} WHERE profile_key = ANY($1::uuid[])`, [keys]);
  }
  const sizes: SizeChanges = { profiles: new Map([[workspaceId, -erased.profiles]]), members: new Map() };
  for (const [definition, { length }] of Map.groupBy(members, (row) => row.definition)) {
    sizes.members.set(definition, { workspaceId, by: -length });
  }
  await addSizes(tx, ERASURES, sizes);
  return erased;
}

const MEMBERSHIPS = `DELETE FROM memberships m USING definitions d
  WHERE d.workspace_id = $2 AND m.definition = d.number AND m.profile_key = ANY($1::uuid[]) RETURNING m.definition`;

/** In the order in which readers lock them. */
const LOCK = `SELECT link IS NULL AS is_profile FROM profiles WHERE profile_key = ANY($1::uuid[]) ORDER BY profile_key FOR UPDATE`;

const MAX_TRIES = 20;

/** A reader may have linked another id before the locks were there: then it starts over, as loading does. */
async function lockToErase(tx: Tx, workspaceId: string, userIds: readonly string[]) {
  await tx.query('SAVEPOINT before_locks');
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const keys = await keysToErase(tx, workspaceId, userIds);
    const rows = await tx.query<{ is_profile: boolean }>(LOCK, [keys]);
    const still = await keysToErase(tx, workspaceId, userIds);
    if (still.every((key) => keys.includes(key))) {
      return { keys, profiles: rows.filter((row) => row.is_profile).length };
    }
    await tx.query('ROLLBACK TO SAVEPOINT before_locks');
  }
  throw new Error(`links changed ${MAX_TRIES} times while a user's profiles were being locked`);
}

async function keysToErase(tx: Tx, workspaceId: string, userIds: readonly string[]): Promise<ProfileKey[]> {
  const keys = new Set(userIds.map((id) => profileKey(workspaceId, 'user', id)));
  for (const key of keys) keys.add(await targetOf(tx, key));
  for (const { key } of await linkedIds(tx, [...keys])) keys.add(key);
  return [...keys].sort();
}

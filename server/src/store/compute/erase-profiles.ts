import type { IdKind, ProfileKey } from '../../compute/profiles/profile-key.ts';
import { profileKey } from '../../compute/profiles/profile-key.ts';
import { withoutFacts } from '../../compute/state/profile-state.ts';
import type { Tx } from '../open-store.ts';
import { linkedIds, targetsOf } from './read-profiles.ts';
import { addSizes, type SizeChanges } from './sizes.ts';

export type ErasedProfileCounts = { profiles: number; memberships: number; history: number };
export type ErasedProfiles = {
  counts: ErasedProfileCounts;
  /** Every id that was erased, as far as audiences knew it: those that were asked for, and those that stood for them. */
  ids: { kind: IdKind; id: string }[];
};

/** Sizes that no reader changes: see sizes.ts. */
const ERASURES = 'erasures';

/**
 * Erases users from audiences: profiles, links, timers, memberships, history and everything that is to be sent. Every id that is linked
 * to a user goes as well: the former names that an alias gave them, and their devices. An id can also be an anonymousId that is linked
 * to no user.
 *
 * An id that an alias has made part of another user cannot be taken out of that user's state. If the other user is not erased, the state
 * is emptied: it keeps the values that were told, with their sequences, and the next evaluation tells those that do not hold any more.
 */
export async function eraseProfiles(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<ErasedProfiles> {
  const named = {
    users: ids.map((id) => profileKey(workspaceId, 'user', id)),
    devices: ids.map((id) => profileKey(workspaceId, 'anonymous', id)),
  };
  const locked = await lockToErase(tx, named);
  const erased = locked.erased.map(({ key }) => key);
  const both = [...erased, ...locked.emptied.map(({ key }) => key)];
  await tx.query(TIMERS, [both]);
  const members = await tx.query<{ definition: number }>(MEMBERSHIPS, [erased, workspaceId]);
  const history = await tx.query(HISTORY, [both]);
  await tx.query('DELETE FROM compute_outbox WHERE profile_key = ANY($1::uuid[])', [both]);
  await tx.query('DELETE FROM profiles WHERE profile_key = ANY($1::uuid[])', [erased]);
  for (const { key, state } of locked.emptied) await empty(tx, key, state);
  const gone = locked.erased.filter(({ isProfile }) => isProfile).length;
  await addSizes(tx, ERASURES, sizesOf(workspaceId, gone, members));
  return {
    counts: { profiles: gone + locked.emptied.length, memberships: members.length, history: history.length },
    ids: locked.erased.map(({ kind, id }) => ({ kind, id })),
  };
}

const TIMERS = `DELETE FROM profile_timers t USING profiles p
  WHERE p.profile_key = ANY($1::uuid[]) AND t.due_at = p.due_at AND t.profile_key = p.profile_key`;

const MEMBERSHIPS = `DELETE FROM memberships m USING definitions d
  WHERE d.workspace_id = $2 AND m.definition = d.number AND m.profile_key = ANY($1::uuid[]) RETURNING m.definition`;

const HISTORY = 'DELETE FROM membership_changes WHERE profile_key = ANY($1::uuid[]) RETURNING 1 AS one';

/** Due at once: a timer evaluates it. */
async function empty(tx: Tx, key: ProfileKey, state: ErasableProfiles['emptied'][number]['state']): Promise<void> {
  const { bytes, evaluatedAt } = withoutFacts(state);
  await tx.query('UPDATE profiles SET state = $2, due_at = $3 WHERE profile_key = $1', [key, bytes, evaluatedAt]);
  await tx.query('INSERT INTO profile_timers (due_at, profile_key) VALUES ($2, $1)', [key, evaluatedAt]);
}

function sizesOf(workspaceId: string, profiles: number, members: readonly { definition: number }[]): SizeChanges {
  const sizes: SizeChanges = { profiles: new Map([[workspaceId, -profiles]]), members: new Map() };
  for (const [definition, { length }] of Map.groupBy(members, (row) => row.definition)) {
    sizes.members.set(definition, { workspaceId, by: -length });
  }
  return sizes;
}

type NamedKeys = { users: readonly ProfileKey[]; devices: readonly ProfileKey[] };

type ErasableProfiles = {
  /** Profiles and links. */
  erased: { key: ProfileKey; kind: IdKind; id: string; isProfile: boolean }[];
  /** Profiles of other users that hold events of the erased ones. */
  emptied: { key: ProfileKey; state: Buffer }[];
};

type Row = { key: ProfileKey; kind: IdKind; id: string; state: Buffer | null };
type Keys = { erased: Set<ProfileKey>; all: ProfileKey[] };

const MAX_TRIES = 20;

/**
 * Locks the profiles and links of users who are to be erased, in the order in which readers lock (see load-profiles.ts). An id without a row is
 * claimed, as a reader claims one that it is about to create. So a reader that has the id is waited for, and one that comes later finds the
 * mark of the erasure when it has its own locks. A reader may have linked another id before the locks were there: then it starts over, as
 * loading does.
 */
async function lockToErase(tx: Tx, named: NamedKeys): Promise<ErasableProfiles> {
  await tx.query('SAVEPOINT before_locks');
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { all } = await keysToErase(tx, named);
    await tx.query(CLAIM, [all]);
    await tx.query('DELETE FROM profile_claims WHERE profile_key = ANY($1::uuid[])', [all]);
    const rows = await tx.query<Row>(LOCK, [all]);
    const now = await keysToErase(tx, named);
    if (now.all.every((key) => all.includes(key))) return toErase(rows, now.erased);
    await tx.query('ROLLBACK TO SAVEPOINT before_locks');
  }
  throw new Error(`links changed ${MAX_TRIES} times while a user's profiles were being locked`);
}

const CLAIM = `INSERT INTO profile_claims (profile_key) SELECT key FROM unnest($1::uuid[]) WITH ORDINALITY AS k (key, place)
  WHERE NOT EXISTS (SELECT FROM profiles p WHERE p.profile_key = k.key) ORDER BY place`;

const LOCK = `SELECT replace(profile_key::text, '-', '') AS key, CASE WHEN is_user THEN 'user' ELSE 'anonymous' END AS kind, id, state
  FROM profiles WHERE profile_key = ANY($1::uuid[]) ORDER BY profile_key FOR UPDATE`;

function toErase(rows: readonly Row[], erased: ReadonlySet<ProfileKey>): ErasableProfiles {
  const found: ErasableProfiles = { erased: [], emptied: [] };
  for (const { key, kind, id, state } of rows) {
    if (erased.has(key)) found.erased.push({ key, kind, id, isProfile: state !== null });
    else if (state !== null) found.emptied.push({ key, state });
  }
  return found;
}

/** Sorted, each once; with the keys of other users whose states have to be emptied. */
async function keysToErase(tx: Tx, { users, devices }: NamedKeys): Promise<Keys> {
  const targets = await targetsOf(tx, [...users, ...devices]);
  // A device that is linked goes with its user, and not by a userId that happens to read the same.
  const own = devices.filter((key) => (targets.get(key) ?? key) === key);
  const erased = new Set([...users, ...own]);
  for (const { key } of await linkedIds(tx, [...erased])) erased.add(key);
  const others = users.map((key) => targets.get(key) ?? key);
  return { erased, all: [...new Set([...erased, ...others])].sort() };
}

import type { NewLink, StoredProfile } from '../../compute/profiles/profile-store.ts';
import type { ProfileKey } from '../../compute/profiles/profile-key.ts';
import type { Statement, Tx } from '../open-store.ts';
import { boolArray, byteaArray, int4Array, int8Array, textArray, uuidArray } from './binary-array.ts';
import type { LockedRow } from './load-profiles.ts';
import { linkOfTarget } from './packed-profiles.ts';

/** The rows that the transaction has locked, as they are now: every write changes it as well. */
export type Locks = Map<ProfileKey, LockedRow>;

const INSERT: Statement = {
  name: 'profile-insert',
  text: `INSERT INTO profiles (profile_key, is_user, id, state, due_at)
    SELECT * FROM unnest($1::uuid[], $2::bool[], $3::text[], $4::bytea[], $5::int8[])`,
};
const UPDATE: Statement = {
  name: 'profile-update',
  text: `UPDATE profiles p SET state = c.state, due_at = c.due_at
    FROM unnest($1::uuid[], $2::bytea[], $3::int8[]) AS c (key, state, due_at) WHERE p.profile_key = c.key`,
};

/** New ones and changed ones, each with its timer; in the order of keys, because neighbours in an index are cheaper. */
export async function writeProfiles(tx: Tx, given: readonly StoredProfile[], locks: Locks): Promise<void> {
  const profiles = given.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const [inserts, updates]: [StoredProfile[], StoredProfile[]] = [[], []];
  for (const profile of profiles) (lockOf(locks, profile.key) === 'absent' ? inserts : updates).push(profile);
  await moveTimers(tx, profiles, locks);
  if (inserts.length > 0) {
    await tx.query(INSERT, [
      uuidArray(inserts.map(({ key }) => key)),
      boolArray(inserts.map(({ kind }) => kind === 'user')),
      textArray(inserts.map(({ id }) => id)),
      byteaArray(inserts.map(({ state }) => state)),
      int8Array(inserts.map(({ dueAt }) => dueAt)),
    ]);
  }
  if (updates.length > 0) {
    await tx.query(UPDATE, [
      uuidArray(updates.map(({ key }) => key)),
      byteaArray(updates.map(({ state }) => state)),
      int8Array(updates.map(({ dueAt }) => dueAt)),
    ]);
  }
  for (const profile of profiles) locks.set(profile.key, profile);
}

function lockOf(locks: Locks, key: ProfileKey): LockedRow {
  const lock = locks.get(key);
  if (lock === undefined) throw new Error('a profile was written that the transaction has not locked');
  return lock;
}

function dueOf(lock: LockedRow): number | undefined {
  return lock === 'absent' || 'link' in lock ? undefined : lock.dueAt;
}

type Timer = Pick<StoredProfile, 'key' | 'dueAt'>;

const DELETE_TIMERS: Statement = {
  name: 'profile-timers-delete',
  text: `DELETE FROM profile_timers t USING unnest($1::int8[], $2::uuid[]) AS c (due_at, key)
    WHERE t.due_at = c.due_at AND t.profile_key = c.key`,
};
const INSERT_TIMERS: Statement = {
  name: 'profile-timers-insert',
  text: 'INSERT INTO profile_timers (due_at, profile_key) SELECT * FROM unnest($1::int8[], $2::uuid[])',
};

async function moveTimers(tx: Tx, profiles: readonly Timer[], locks: Locks): Promise<void> {
  const moved = profiles.filter(({ key, dueAt }) => dueOf(lockOf(locks, key)) !== dueAt);
  const gone = moved.flatMap(({ key }) => {
    const dueAt = dueOf(lockOf(locks, key));
    return dueAt === undefined ? [] : { key, dueAt };
  });
  const made = moved.filter(({ dueAt }) => dueAt !== undefined);
  const values = (timers: readonly Timer[]) => [
    int8Array(timers.map(({ dueAt }) => dueAt)),
    uuidArray(timers.map(({ key }) => key)),
  ];
  if (gone.length > 0) await tx.query(DELETE_TIMERS, values(gone));
  if (made.length > 0) await tx.query(INSERT_TIMERS, values(made));
}

const LINK: Statement = {
  name: 'profile-link',
  text: `INSERT INTO profiles (profile_key, is_user, id, link)
    SELECT * FROM unnest($1::uuid[], $2::bool[], $3::text[], $4::uuid[])
    ON CONFLICT (profile_key) DO UPDATE SET link = excluded.link, state = NULL, due_at = NULL`,
};
/** Transitions that are being sent stay: they were made while the profile was one. */
const FORGET_UNSENT: Statement = {
  name: 'profile-forget-unsent',
  text: 'DELETE FROM compute_outbox o USING unnest($1::uuid[]) AS c (key) WHERE o.profile_key = c.key AND o.batch IS NULL',
};
const FORGET_MEMBERSHIPS: Statement = {
  name: 'profile-forget-memberships',
  text: `DELETE FROM memberships m USING unnest($1::int4[], $2::uuid[]) AS c (definition, key)
    WHERE m.definition = c.definition AND m.profile_key = c.key`,
};

export async function writeLinks(tx: Tx, links: readonly NewLink[], locks: Locks): Promise<void> {
  if (links.length === 0) return;
  await moveTimers(
    tx,
    links.map(({ from }) => ({ key: from, dueAt: undefined })),
    locks,
  );
  const keys = uuidArray(links.map(({ from }) => from));
  await tx.query(LINK, [
    keys,
    boolArray(links.map(({ kind }) => kind === 'user')),
    textArray(links.map(({ id }) => id)),
    uuidArray(links.map(({ to }) => linkOfTarget(to))),
  ]);
  await tx.query(FORGET_UNSENT, [keys]);
  const left = links.flatMap(({ from, left }) => left.map((definition) => ({ definition, key: from })));
  if (left.length > 0) {
    await tx.query(FORGET_MEMBERSHIPS, [
      int4Array(left.map(({ definition }) => definition)),
      uuidArray(left.map(({ key }) => key)),
    ]);
  }
  for (const { from, to } of links) locks.set(from, { link: to });
}

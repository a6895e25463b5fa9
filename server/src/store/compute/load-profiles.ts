/**
 * Loading locks. Two readers meet in the same profiles all the time, so every transaction takes its locks in one order, and none can
 * wait for another in a circle:
 *
 * 1. claims on ids that have no row yet, by key: the second transaction waits until the first has created the row, or has not;
 * 2. rows, by key;
 * 3. nothing else that another holder of rows could wait for.
 *
 * A link that was read before the locks may have changed under them. Then all locks are given back and it starts over.
 */
import type { Links, LinkTarget, LoadedProfiles, StoredProfile } from '../../compute/profiles/profile-store.ts';
import type { ProfileKey } from '../../compute/profiles/profile-key.ts';
import type { Statement, Tx } from '../open-store.ts';
import { uuidArray } from './binary-array.ts';
import { type PackedProfiles, PACKED_PROFILES, targetOfLink, unpackProfiles } from './packed-profiles.ts';

export type WantedProfiles = { keys: Iterable<ProfileKey>; choose(links: Links): Iterable<ProfileKey> };

/** The row of a key that the transaction has locked. */
export type LockedRow = StoredProfile | { link: LinkTarget } | 'absent';

export type LockedProfiles = LoadedProfiles & { rows: ReadonlyMap<ProfileKey, LockedRow> };

const MAX_TRIES = 20;

export async function loadProfiles(
  tx: Tx,
  { keys, choose }: WantedProfiles,
  workspaceOf: (key: ProfileKey) => string,
): Promise<LockedProfiles> {
  await tx.query('SAVEPOINT before_locks');
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const seen = await readLinks(tx, keys);
    const chosen = [...new Set(choose(seen.links))].sort();
    const rows = await lockRows(tx, { chosen, seen }, workspaceOf);
    if (isAsSeen(rows, seen)) return { links: seen.links, profiles: profilesIn(rows), rows };
    await tx.query('ROLLBACK TO SAVEPOINT before_locks');
  }
  throw new Error(`links changed ${MAX_TRIES} times while their profiles were being locked`);
}

type Seen = { links: Map<ProfileKey, LinkTarget>; profiles: ReadonlySet<ProfileKey> };

const LINKS: Statement = {
  name: 'profile-links',
  text: `SELECT string_agg(uuid_send(p.profile_key), '') FILTER (WHERE p.link IS NULL) AS profiles,
      string_agg(uuid_send(p.profile_key) || uuid_send(p.link), '') FILTER (WHERE p.link IS NOT NULL) AS links
    FROM unnest($1::uuid[]) AS k (key) JOIN profiles p ON p.profile_key = k.key`,
};

const DIGITS = 32;

/** Without locks. Follows the links until there is no new one. */
async function readLinks(tx: Tx, keys: Iterable<ProfileKey>): Promise<Seen> {
  const links = new Map<ProfileKey, LinkTarget>();
  const profiles = new Set<ProfileKey>();
  const asked = new Set(keys);
  let next = [...asked];
  while (next.length > 0) {
    const [row] = await tx.query<{ profiles: Buffer | null; links: Buffer | null }>(LINKS, [uuidArray(next)]);
    next = [];
    for (const key of keysIn(row?.profiles)) profiles.add(key);
    const pairs = keysIn(row?.links);
    for (let at = 0; at < pairs.length; at += 2) {
      const [from = '', to = ''] = [pairs[at], pairs[at + 1]];
      const target = targetOfLink(to);
      links.set(from, target);
      if (target === 'shared' || asked.has(target)) continue;
      asked.add(target);
      next.push(target);
    }
  }
  return { links, profiles };
}

function keysIn(bytes: Buffer | null | undefined): string[] {
  const text = bytes?.toString('hex') ?? '';
  const keys: string[] = [];
  for (let at = 0; at < text.length; at += DIGITS) keys.push(text.slice(at, at + DIGITS));
  return keys;
}

const CLAIM: Statement = {
  name: 'profile-claim',
  text: 'INSERT INTO profile_claims (profile_key) SELECT key FROM unnest($1::uuid[]) WITH ORDINALITY AS k (key, place) ORDER BY place',
};
/** The lock stays until the transaction ends: others cannot know yet that the row will be gone. */
const UNCLAIM: Statement = {
  name: 'profile-unclaim',
  text: 'DELETE FROM profile_claims c USING unnest($1::uuid[]) AS k (key) WHERE c.profile_key = k.key',
};
const LOCK: Statement = {
  name: 'profile-lock',
  text: `SELECT ${PACKED_PROFILES} FROM (
      SELECT p.* FROM unnest($1::uuid[]) AS k (key) JOIN profiles p ON p.profile_key = k.key
      ORDER BY p.profile_key FOR NO KEY UPDATE OF p) AS locked`,
};

async function lockRows(
  tx: Tx,
  { chosen, seen }: { chosen: readonly ProfileKey[]; seen: Seen },
  workspaceOf: (key: ProfileKey) => string,
): Promise<Map<ProfileKey, LockedRow>> {
  const rows = new Map<ProfileKey, LockedRow>(chosen.map((key) => [key, 'absent']));
  if (chosen.length === 0) return rows;
  const absent = chosen.filter((key) => !seen.profiles.has(key) && !seen.links.has(key));
  if (absent.length > 0) {
    const packed = uuidArray(absent);
    await tx.query(CLAIM, [packed]);
    await tx.query(UNCLAIM, [packed]);
  }
  const [locked] = await tx.query<PackedProfiles>(LOCK, [uuidArray(chosen)]);
  for (const row of unpackProfiles(locked, workspaceOf)) rows.set(row.key, 'link' in row ? { link: row.link } : row);
  return rows;
}

/** A row may have come into being: this transaction holds its claim. It may not have turned into a link, or be gone. */
function isAsSeen(rows: ReadonlyMap<ProfileKey, LockedRow>, { links, profiles }: Seen): boolean {
  const targets = new Set(links.values());
  for (const [key, row] of rows) {
    if (row === 'absent') {
      if (profiles.has(key) || links.has(key) || targets.has(key)) return false;
    } else if (links.get(key) !== ('link' in row ? row.link : undefined)) return false;
  }
  return true;
}

function profilesIn(rows: ReadonlyMap<ProfileKey, LockedRow>): Map<ProfileKey, StoredProfile> {
  const profiles = new Map<ProfileKey, StoredProfile>();
  for (const [key, row] of rows) if (row !== 'absent' && !('link' in row)) profiles.set(key, row);
  return profiles;
}

import type { StoredProfile } from '../../compute/profiles/profile-store.ts';
import { type IdKind, type ProfileKey, profileKey, workspacePrefix } from '../../compute/profiles/profile-key.ts';
import type { Tx } from '../open-store.ts';
import { readInOrder } from '../rows.ts';
import { type PackedProfiles, PACKED_PROFILES, unpackOnlyProfiles } from './packed-profiles.ts';

export type ProfileName = { workspaceId: string; kind: IdKind; id: string };
/** A profile with every other id that stands for it. */
export type LinkedProfile = StoredProfile & { links: { kind: IdKind; id: string }[] };

/** The profile that an id stands for; undefined also for an id that is shared by two users. */
export async function findProfile(tx: Tx, { workspaceId, kind, id }: ProfileName): Promise<LinkedProfile | undefined> {
  const key = await targetOf(tx, profileKey(workspaceId, kind, id));
  const sql = `SELECT ${PACKED_PROFILES} FROM (SELECT * FROM profiles WHERE profile_key = $1) AS found`;
  const [row] = await tx.query<PackedProfiles>(sql, [key]);
  const [profile] = unpackOnlyProfiles(row, () => workspaceId);
  if (profile === undefined) return undefined;
  const links = await linkedIds(tx, [key]);
  return { ...profile, links: links.map((link) => ({ kind: link.kind, id: link.id })) };
}

/** The end of the chain of links that begins here. */
export async function targetOf(tx: Tx, key: ProfileKey): Promise<ProfileKey> {
  return (await targetsOf(tx, [key])).get(key) ?? key;
}

/** The same for each of these keys that leads to a profile; a profile leads to itself. */
export async function targetsOf(tx: Tx, keys: readonly ProfileKey[]): Promise<Map<ProfileKey, ProfileKey>> {
  const sql = `WITH RECURSIVE chain AS (
      SELECT profile_key AS start, profile_key, link FROM profiles WHERE profile_key = ANY($1::uuid[])
      UNION
      SELECT c.start, p.profile_key, p.link FROM chain c JOIN profiles p ON p.profile_key = c.link)
    SELECT replace(start::text, '-', '') AS start, replace(profile_key::text, '-', '') AS target FROM chain WHERE link IS NULL`;
  const rows = await tx.query<{ start: string; target: string }>(sql, [keys]);
  return new Map(rows.map(({ start, target }) => [start, target]));
}

export type LinkedKey = { key: ProfileKey; kind: IdKind; id: string };

/** Every id that stands for one of these profiles, over however many links. */
export async function linkedIds(tx: Tx, keys: readonly ProfileKey[]): Promise<LinkedKey[]> {
  const sql = `WITH RECURSIVE linked AS (
      SELECT profile_key, is_user, id FROM profiles WHERE link = ANY($1::uuid[]) AND link <> '${NOBODY}'
      UNION
      SELECT p.profile_key, p.is_user, p.id FROM linked l JOIN profiles p ON p.link = l.profile_key AND p.link <> '${NOBODY}')
    SELECT replace(profile_key::text, '-', '') AS key, CASE WHEN is_user THEN 'user' ELSE 'anonymous' END AS kind, id FROM linked
    ORDER BY 2, 3`;
  return tx.query(sql, [keys]);
}

const NOBODY = '00000000-0000-0000-0000-000000000000';
const HASH_DIGITS = 20;
const LAST_KEY = 'f'.repeat(HASH_DIGITS);

export type ProfilePage = { after: ProfileKey | undefined; limit: number };

/** Profiles of a workspace in the order of their keys. */
export function pageOfProfiles(tx: Tx, workspaceId: string, { after, limit }: ProfilePage): Promise<StoredProfile[]> {
  const prefix = workspacePrefix(workspaceId);
  return readRange(tx, workspaceId, { after: after ?? prefix + '0'.repeat(HASH_DIGITS), to: prefix + LAST_KEY, limit });
}

export type SampleRange = { share: number; start: number };

/**
 * The profiles of a workspace whose keys lie in a part of the key space: `share` of all, from `start` on (both of 1). Keys are hashes, so
 * it is a random sample, and the same range is the same sample.
 */
export function sampleProfiles(tx: Tx, workspaceId: string, { share, start }: SampleRange): Promise<StoredProfile[]> {
  const prefix = workspacePrefix(workspaceId);
  const keyAt = (part: number) =>
    prefix +
    Math.floor(part * 2 ** 48)
      .toString(16)
      .padStart(12, '0')
      .padEnd(HASH_DIGITS, '0');
  const from = Math.min(start, 1 - share);
  const to = from + share >= 1 ? prefix + LAST_KEY : keyAt(from + share);
  return readRange(tx, workspaceId, { after: keyAt(from), to, limit: MAX_SAMPLE });
}

const MAX_SAMPLE = 1_000_000;

type KeyRange = { after: ProfileKey; to: ProfileKey; limit: number };

async function readRange(tx: Tx, workspaceId: string, { after, to, limit }: KeyRange): Promise<StoredProfile[]> {
  const sql = `SELECT ${PACKED_PROFILES} FROM (
      SELECT * FROM profiles WHERE profile_key > $1 AND profile_key <= $2 AND link IS NULL ORDER BY profile_key LIMIT $3) AS range`;
  await readInOrder(tx);
  const [row] = await tx.query<PackedProfiles>(sql, [after, to, limit]);
  return unpackOnlyProfiles(row, () => workspaceId);
}

/** Profiles as one row of a result: a few long values cost the driver a fraction of what a thousand rows do. */
import type { LinkTarget, StoredProfile } from '../../compute/profiles/profile-store.ts';
import type { ProfileKey } from '../../compute/profiles/profile-key.ts';

export type PackedProfiles = {
  keys: Buffer | null;
  /** One letter each: user, anonymous. */
  kinds: string | null;
  ids: string[] | null;
  /** One after the other. */
  states: Buffer | null;
  /** The bytes of each state; -1 for a link. */
  sizes: Buffer | null;
  links: Buffer | null;
  /** -1 for none. */
  dues: Buffer | null;
};

/** The columns of the query, over a subquery with columns of `profiles`, in its order. */
export const PACKED_PROFILES = `string_agg(uuid_send(profile_key), '') AS keys,
  string_agg(CASE WHEN is_user THEN 'u' ELSE 'a' END, '') AS kinds, json_agg(id) AS ids,
  string_agg(state, '') AS states, string_agg(int4send(coalesce(octet_length(state), -1)), '') AS sizes,
  string_agg(uuid_send(link), '') AS links, string_agg(int8send(coalesce(due_at, -1)), '') AS dues`;

export type UnpackedLink = { key: ProfileKey; link: LinkTarget };

const KEY_BYTES = 16;
const TWO_TO_32 = 2 ** 32;
/** The column `link` of a shared device. */
const SHARED = '0'.repeat(2 * KEY_BYTES);

export function targetOfLink(link: string): LinkTarget {
  return link === SHARED ? 'shared' : link;
}

export function linkOfTarget(target: LinkTarget): string {
  return target === 'shared' ? SHARED : target;
}

export function unpackProfiles(
  packed: PackedProfiles | undefined,
  workspaceOf: (key: ProfileKey) => string,
): (StoredProfile | UnpackedLink)[] {
  if (packed === undefined || packed.keys === null || packed.sizes === null || packed.dues === null) return [];
  const { kinds, ids, sizes, dues } = packed;
  const keys = packed.keys.toString('hex');
  const states = packed.states ?? Buffer.alloc(0);
  let stateAt = 0;
  let linkAt = 0;
  return Array.from({ length: sizes.length / 4 }, (_, nth) => {
    const key = keys.slice(nth * 32, nth * 32 + 32);
    const bytes = sizes.readInt32BE(nth * 4);
    if (bytes < 0) {
      const link = packed.links?.toString('hex', linkAt, linkAt + KEY_BYTES) ?? SHARED;
      linkAt += KEY_BYTES;
      return { key, link: targetOfLink(link) };
    }
    const state = states.subarray(stateAt, stateAt + bytes);
    stateAt += bytes;
    const high = dues.readInt32BE(nth * 8);
    const dueAt = high < 0 ? undefined : high * TWO_TO_32 + dues.readUInt32BE(nth * 8 + 4);
    const kind = kinds?.[nth] === 'u' ? 'user' : 'anonymous';
    return { key, workspaceId: workspaceOf(key), kind, id: ids?.[nth] ?? '', state, dueAt };
  });
}

/** Without the links. */
export function unpackOnlyProfiles(
  packed: PackedProfiles | undefined,
  workspaceOf: (key: ProfileKey) => string,
): StoredProfile[] {
  return unpackProfiles(packed, workspaceOf).flatMap((row) => ('link' in row ? [] : row));
}

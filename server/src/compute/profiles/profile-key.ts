import { hash } from 'node:crypto';

/**
 * A profile key: 128 bits as 32 hex digits in lower case. The first 48 are those of the SHA-256 of the workspace's id, so the profiles
 * of a workspace are neighbours in every index and row-level security can compare; the other 80 are of workspace, kind and id.
 */
export type ProfileKey = string;

/** The two kinds of ids. A `userId` is a profile; an `anonymousId` is one until it is linked. */
export type IdKind = 'user' | 'anonymous';

const PREFIX_DIGITS = 12;
const KEY_DIGITS = 32;

const prefixes = new Map<string, string>();
const MAX_PREFIXES = 10_000;

/** Workspace ids and kinds hold no line break, so no two ids share a text. */
export function profileKey(workspaceId: string, kind: IdKind, id: string): ProfileKey {
  const own = hash('sha256', `${workspaceId}\n${kind}\n${id}`);
  return workspacePrefix(workspaceId) + own.slice(0, KEY_DIGITS - PREFIX_DIGITS);
}

/** The beginning of all profile keys of a workspace. */
export function workspacePrefix(workspaceId: string): string {
  const known = prefixes.get(workspaceId);
  if (known !== undefined) return known;
  if (prefixes.size >= MAX_PREFIXES) prefixes.clear();
  const prefix = hash('sha256', workspaceId).slice(0, PREFIX_DIGITS);
  prefixes.set(workspaceId, prefix);
  return prefix;
}

export function prefixOfKey(key: ProfileKey): string {
  return key.slice(0, PREFIX_DIGITS);
}

import type { ProfileKey } from '../profiles/profile-key.ts';

/** How much of a workspace's keys come before this one, from 0 to 1: after the workspace's own digits they are hashes. */
export function keyShare(key: ProfileKey): number {
  return Number.parseInt(key.slice(12, 24), 16) / 2 ** 48;
}

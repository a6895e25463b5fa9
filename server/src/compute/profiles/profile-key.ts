import { hash } from 'node:crypto';

/** A profile key: the first 128 bits of a SHA-256 over workspace, kind and id, as 32 hex digits in lower case. */
export type ProfileKey = string;

/** What an id names. A `userId` is a profile; an `anonymousId` is one until it is linked. */
export type IdKind = 'user' | 'anonymous';

/** Workspace ids and kinds hold no line break, so no two ids share a text. */
export function profileKey(workspaceId: string, kind: IdKind, id: string): ProfileKey {
  return hash('sha256', `${workspaceId}\n${kind}\n${id}`).slice(0, 32);
}

/**
 * Which profile an event belongs to, by the links that are known. An id is a profile of its own until it is linked; from then on it
 * stands for another profile, which may itself be linked on by an alias.
 *
 *   anonymousId: unlinked → linked to the first user with whom it is seen → shared, for good, once it is seen with another one
 *   userId:      unlinked → linked to another user, by an alias call
 *
 * Only an alias merges two users. Nothing takes a link back.
 */
import type { AcceptedEvent } from '@millrace/contract';
import { isPlaceholderId } from '@millrace/contract/audiences';
import { type IdKind, type ProfileKey, profileKey } from '../profiles/profile-key.ts';
import type { Links, LinkTarget } from '../profiles/profile-store.ts';

/** An id of an event with its key. The id is undefined where only the key is known, from a link. */
export type EventId = { key: ProfileKey; kind: IdKind; id: string | undefined };

/** The ids of an event that name something; `previous` and `previousAnonymous` are the two readings of an alias's previousId. */
export type EventIds = {
  user: EventId | undefined;
  anonymous: EventId | undefined;
  previous: EventId | undefined;
  previousAnonymous: EventId | undefined;
};

/** A link that the event makes. `merges`: the id is a profile until now, which becomes part of the target. */
export type LinkChange = { from: EventId; to: LinkTarget; merges: boolean };

/** Why an alias does nothing: it would lead back to itself, or the previous id stands for another user already. */
export type AliasRefusal = 'cycle' | 'taken';

export type Resolution = {
  /** Undefined: the event belongs to no profile. */
  profile: EventId | undefined;
  links: LinkChange[];
  refusal?: AliasRefusal;
};

export function idsOf(event: AcceptedEvent, workspaceId: string): EventIds {
  const named = (kind: IdKind, id: string | undefined): EventId | undefined =>
    id === undefined || isPlaceholderId(id) ? undefined : { key: profileKey(workspaceId, kind, id), kind, id };
  const previousId = event.type === 'alias' ? event.previousId : undefined;
  return {
    user: named('user', event.userId),
    anonymous: named('anonymous', event.anonymousId),
    previous: named('user', previousId),
    previousAnonymous: named('anonymous', previousId),
  };
}

export function keysOf({ user, anonymous, previous, previousAnonymous }: EventIds): ProfileKey[] {
  return [user, anonymous, previous, previousAnonymous].flatMap((id) => (id === undefined ? [] : [id.key]));
}

/** Resolves events one after the other; the links that an event makes are known to the next one. */
export function openIdentities(links: Links): { resolve(ids: EventIds): Resolution } {
  const known = new Map(links);
  return {
    resolve(ids) {
      const resolution = resolveIds(ids, known);
      for (const { from, to } of resolution.links) known.set(from.key, to);
      return resolution;
    },
  };
}

/** The alias comes first: a device of the previous id is then one of the user, and not shared. */
function resolveIds({ user, anonymous, previous, previousAnonymous }: EventIds, links: Links): Resolution {
  if (user === undefined) return { profile: anonymous && ownerOf(anonymous, links), links: [] };
  const owner = rootOf(user.key, links);
  const profile: EventId = owner === user.key ? user : { key: owner, kind: 'user', id: undefined };
  const alias = previous && aliasOf(previous, user, links);
  const isRefused = alias === 'cycle' || alias === 'taken';
  const made: LinkChange[] = alias === undefined || isRefused ? [] : [alias];
  const owners = [owner, ...made.map(({ from }) => from.key)];
  const devices = anonymous?.key === previousAnonymous?.key ? [anonymous] : [anonymous, previousAnonymous];
  for (const device of devices) {
    const change = device && linkOf(device, owners, links);
    if (change !== undefined) made.push(change);
  }
  return { profile, links: made, ...(isRefused ? { refusal: alias } : {}) };
}

function ownerOf(anonymous: EventId, links: Links): EventId | undefined {
  const target = links.get(anonymous.key);
  if (target === undefined) return anonymous;
  return target === 'shared' ? undefined : { key: rootOf(target, links), kind: 'user', id: undefined };
}

/** The profile that a key stands for; undefined for a shared device. */
export function ownerKeyOf(key: ProfileKey, links: Links): ProfileKey | undefined {
  return links.get(key) === 'shared' ? undefined : rootOf(key, links);
}

/** Users are never shared, so every chain ends at a profile. */
function rootOf(key: ProfileKey, links: Links): ProfileKey {
  let at = key;
  for (let next = links.get(at); next !== undefined && next !== 'shared'; next = links.get(at)) at = next;
  return at;
}

/** `owners` are all the same user: the profile itself, and one that the event merges into it. */
function linkOf(anonymous: EventId, owners: readonly ProfileKey[], links: Links): LinkChange | undefined {
  const target = links.get(anonymous.key);
  if (target === undefined) return { from: anonymous, to: owners[0] ?? '', merges: true };
  if (target === 'shared' || owners.includes(rootOf(target, links))) return undefined;
  return { from: anonymous, to: 'shared', merges: false };
}

function aliasOf(previous: EventId, user: EventId, links: Links): LinkChange | AliasRefusal | undefined {
  const owner = rootOf(user.key, links);
  if (previous.key === user.key) return undefined;
  if (links.get(previous.key) !== undefined) return rootOf(previous.key, links) === owner ? undefined : 'taken';
  // The previous id has no link, so it is the end of a chain: here the user's own.
  return previous.key === owner ? 'cycle' : { from: previous, to: owner, merges: true };
}

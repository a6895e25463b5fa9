/**
 * A batch of events against the profiles that were loaded for it: identity, facts, evaluation, transitions. Everything is computed here;
 * the caller loads and writes. The outcome does not depend on where a batch begins and ends: each event is evaluated at the time of
 * its receipt, after the changes that were due by then.
 */
import type { ProfileKey } from '../profiles/profile-key.ts';
import type { Links, LoadedProfiles, NewLink, ProfileChanges, Transition } from '../profiles/profile-store.ts';
import { emptyState } from '../state/profile-state.ts';
import { fillFromTiles } from './backfill.ts';
import { advance, evaluate, type OpenProfile, refuseStale } from './evaluate.ts';
import { foldEvent } from './fold-event.ts';
import { type IncomingEvent, incomingEvent, type SourceEvent } from './incoming-event.ts';
import { heldDefinitions, mergeFacts } from './merge-profiles.ts';
import { closeProfile, openProfile } from './open-profile.ts';
import type { Plan } from './plan.ts';
import { type EventId, type EventIds, idsOf, keysOf, type LinkChange, openIdentities } from './resolve-identity.ts';

/** Undefined for a workspace without definitions: its events are left alone. */
export type PlanOf = (workspaceId: string) => Plan | undefined;

export type FoldCounts = {
  folded: number;
  duplicates: number;
  /** Events without an id that names a profile, or of a shared device. */
  ofNobody: number;
  /** Message ids that were forgotten before their 24 hours were over. */
  evictedIds: number;
  refusedAliases: number;
};

export type FoldedBatch = ProfileChanges & { counts: FoldCounts };

/** Load what `keys` and `choose` name, then fold. `choose` and `fold` change nothing here and can be called again. */
export type EventBatch = {
  /** Every id of the batch: the links of these have to be known. */
  keys: ReadonlySet<ProfileKey>;
  /** The profiles that the batch is going to read and write, given the links. */
  choose(links: Links): Set<ProfileKey>;
  fold(loaded: LoadedProfiles): FoldedBatch;
};

type ReadEvent = SourceEvent & { plan: Plan; ids: EventIds };

/** In the order of their stream. Leave out the events of computed sources, and of users who were erased or are suppressed. */
export function readBatch(events: readonly SourceEvent[], planOf: PlanOf): EventBatch {
  const read = events.flatMap((each): ReadEvent[] => {
    const plan = planOf(each.workspaceId);
    const { workspaceId, sourceId, event } = each;
    return plan === undefined ? [] : [{ workspaceId, sourceId, event, plan, ids: idsOf(event, workspaceId) }];
  });
  return {
    keys: new Set(read.flatMap(({ ids }) => keysOf(ids))),
    choose: (links) => chooseProfiles(read, links),
    fold(loaded) {
      const folding = openFolding(loaded);
      for (const each of read) folding.fold(each);
      return folding.end();
    },
  };
}

function chooseProfiles(events: readonly ReadEvent[], links: Links): Set<ProfileKey> {
  const identities = openIdentities(links);
  const chosen = new Set<ProfileKey>();
  for (const { ids } of events) {
    const { profile, links: changes } = identities.resolve(ids);
    if (profile !== undefined) chosen.add(profile.key);
    for (const { from } of changes) chosen.add(from.key);
  }
  return chosen;
}

type Moment = { plan: Plan; now: number };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
function openFolding(loaded: LoadedProfiles): { fold(event: ReadEvent): void; end(): FoldedBatch } {
  const identities = openIdentities(loaded.links);
  const open = new Map<ProfileKey, OpenProfile>();
  const links = new Map<ProfileKey, NewLink>();
  const transitions: Transition[] = [];
  const counts: FoldCounts = { folded: 0, duplicates: 0, ofNobody: 0, evictedIds: 0, refusedAliases: 0 };

  function find(key: ProfileKey, plan: Plan): OpenProfile | undefined {
    const stored = loaded.profiles.get(key);
    if (open.has(key) || stored === undefined || links.has(key)) return open.get(key);
    const profile = openProfile(stored);
    refuseStale(profile.state, plan);
    fillFromTiles(profile.state, plan);
    open.set(key, profile);
    return profile;
  }

  /** Undefined for a key that is known from a link only and is no profile, such as that of an erased user. */
  function findOrMake({ key, kind, id }: EventId, { workspaceId, plan }: ReadEvent): OpenProfile | undefined {
    const found = find(key, plan);
    if (found !== undefined || id === undefined) return found;
    const made: OpenProfile = { key, workspaceId, kind, id, state: emptyState(), dueAt: undefined };
    open.set(key, made);
    return made;
  }

  function link({ from, to, merges }: LinkChange, into: OpenProfile, moment: Moment): void {
    const merged = merges ? find(from.key, moment.plan) : undefined;
    const left = merged === undefined ? (links.get(from.key)?.left ?? []) : merge(into, merged, moment);
    open.delete(from.key);
    const { key, kind, id = '' } = from;
    links.set(key, { from: key, workspaceId: into.workspaceId, kind, id, to, left });
  }

  function merge(into: OpenProfile, merged: OpenProfile, { plan, now }: Moment): number[] {
    transitions.push(...advance(merged, plan, now), ...advance(into, plan, now));
    counts.evictedIds += mergeFacts(into.state, merged.state, plan);
    transitions.push(...evaluate(into, plan, { now, cause: 'merge', touched: undefined }));
    return heldDefinitions(merged.state, plan);
  }

  function add(profile: OpenProfile, incoming: IncomingEvent, plan: Plan): void {
    const { receivedAt, event } = incoming;
    transitions.push(...advance(profile, plan, receivedAt));
    const now = Math.max(profile.state.evaluatedAt, receivedAt);
    const { isDuplicate, evictedIds, touched } = foldEvent(profile.state, incoming, plan, now);
    counts.evictedIds += evictedIds;
    counts[isDuplicate ? 'duplicates' : 'folded'] += 1;
    transitions.push(...evaluate(profile, plan, { now, cause: 'event', messageId: event.messageId, touched }));
  }

  return {
    fold(each) {
      const { profile: owner, links: changes, refusal } = identities.resolve(each.ids);
      if (refusal !== undefined) counts.refusedAliases += 1;
      const profile = owner && findOrMake(owner, each);
      if (profile === undefined) {
        counts.ofNobody += 1;
        return;
      }
      const incoming = incomingEvent(each);
      for (const change of changes) link(change, profile, { plan: each.plan, now: incoming.receivedAt });
      add(profile, incoming, each.plan);
    },
    end: () => ({ profiles: [...open.values()].map(closeProfile), links: [...links.values()], transitions, counts }),
  };
}

import type { ProfileKey } from '../profiles/profile-key.ts';
import type { ProfileChanges, StoredProfile, Transition } from '../profiles/profile-store.ts';
import { advance, evaluate, type OpenProfile, refuseStale } from './evaluate.ts';
import type { PlanOf } from './fold-batch.ts';
import { fillFromTiles } from './backfill.ts';
import { closeProfile, openProfile } from './open-profile.ts';
import type { Plan } from './plan.ts';

/**
 * Profiles whose timer is due: runs their changes up to a time, each at its own. A profile of a workspace without definitions, which is about
 * to be deleted, loses its timer: it would come first again and again, and others would wait behind it.
 */
export function runTimers(profiles: readonly StoredProfile[], planOf: PlanOf, upTo: number): ProfileChanges {
  const transitions: Transition[] = [];
  const written = profiles.flatMap((stored) => {
    const plan = planOf(stored.workspaceId);
    if (stored.dueAt === undefined || stored.dueAt > upTo) return [];
    if (plan === undefined) return [{ ...stored, dueAt: undefined }];
    const profile = openProfile(stored);
    refuseStale(profile.state, plan);
    fillFromTiles(profile.state, plan);
    transitions.push(...advance(profile, plan, upTo));
    return [closeProfile(profile)];
  });
  return { profiles: written, links: [], transitions };
}

export type Scan = { now: number; isFirstSync?: boolean };

/**
 * The scan after a definition was made, edited or deleted: evaluates the definitions that changed since a profile was last written.
 * Profiles that have seen an event since then are up to date, and left alone; so are those for which nothing changes, now or by time
 * alone: their next event evaluates the definitions again, and finds the same. `isFirstSync` marks the transitions of the changed ones.
 */
export function evaluateChanged(profiles: readonly StoredProfile[], planOf: PlanOf, scan: Scan): ProfileChanges {
  const transitions: Transition[] = [];
  const written = profiles.flatMap((stored) => {
    const plan = planOf(stored.workspaceId);
    const changed = plan && evaluateOne(stored, plan, scan);
    if (changed === undefined) return [];
    transitions.push(...changed.transitions);
    return [closeProfile(changed.profile)];
  });
  return { profiles: written, links: [], transitions };
}

/** Profiles that `evaluateChanged` would write. They were read without locks, and have to be loaded before. */
export function changedByScan(profiles: readonly StoredProfile[], planOf: PlanOf, scan: Scan): ProfileKey[] {
  return profiles.flatMap((stored) => {
    const plan = planOf(stored.workspaceId);
    return plan !== undefined && evaluateOne(stored, plan, scan) !== undefined ? [stored.key] : [];
  });
}

type ScannedProfile = { profile: OpenProfile; transitions: Transition[] };

/** Undefined when there is nothing to write. */
function evaluateOne(
  stored: StoredProfile,
  plan: Plan,
  { now, isFirstSync = false }: Scan,
): ScannedProfile | undefined {
  const profile = openProfile(stored);
  refuseStale(profile.state, plan);
  const { planVersion } = profile.state;
  if (planVersion === plan.version) return undefined;
  const isUrgent = fillFromTiles(profile.state, plan);
  const transitions = advance(profile, plan, now);
  const { dueAt = Infinity } = profile;
  // So that it tells when the changed definitions are due, and not when the others are.
  profile.dueAt = undefined;
  const touched = new Uint8Array(plan.definitions.length);
  transitions.push(...evaluate(profile, plan, { now, cause: 'backfill', touched, isFirstSync }));
  const changesByItself = profile.dueAt !== undefined || (dueAt !== Infinity && asksOthers(plan, planVersion));
  const dueEarlier = Math.min(dueAt, profile.dueAt ?? Infinity);
  profile.dueAt = dueEarlier === Infinity ? undefined : dueEarlier;
  const isChanged = transitions.length > 0 || isUrgent || changesByItself || profile.dueAt !== stored.dueAt;
  return isChanged ? { profile, transitions } : undefined;
}

/** Whether a definition that changed asks for an audience: it changes with that one, also when time alone changes that. */
function asksOthers({ definitions }: Plan, planVersion: number): boolean {
  return definitions.some(({ dependents }) =>
    dependents.some((place) => (definitions[place]?.changed ?? 0) > planVersion),
  );
}

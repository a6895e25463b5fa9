import type { ProfileChanges, StoredProfile, Transition } from '../profiles/profile-store.ts';
import { advance, evaluate, refuseStale } from './evaluate.ts';
import type { PlanOf } from './fold-batch.ts';
import { closeProfile, openProfile } from './open-profile.ts';

/** Profiles whose timer is due: runs their changes up to a time, each at its own. */
export function runTimers(profiles: readonly StoredProfile[], planOf: PlanOf, upTo: number): ProfileChanges {
  const transitions: Transition[] = [];
  const written = profiles.flatMap((stored) => {
    const plan = planOf(stored.workspaceId);
    if (plan === undefined || stored.dueAt === undefined || stored.dueAt > upTo) return [];
    const profile = openProfile(stored);
    refuseStale(profile.state, plan);
    transitions.push(...advance(profile, plan, upTo));
    return [closeProfile(profile)];
  });
  return { profiles: written, links: [], transitions };
}

/**
 * The scan after a definition was made, edited or deleted: evaluates the definitions that changed since a profile was last written.
 * Profiles that have seen an event since then are up to date, and left alone. `isFirstSync` marks the transitions of the changed ones.
 */
export function evaluateChanged(
  profiles: readonly StoredProfile[],
  planOf: PlanOf,
  { now, isFirstSync = false }: { now: number; isFirstSync?: boolean },
): ProfileChanges {
  const transitions: Transition[] = [];
  const written = profiles.flatMap((stored) => {
    const plan = planOf(stored.workspaceId);
    if (plan === undefined) return [];
    const profile = openProfile(stored);
    refuseStale(profile.state, plan);
    if (profile.state.planVersion === plan.version) return [];
    const touched = new Uint8Array(plan.definitions.length);
    transitions.push(...advance(profile, plan, now));
    transitions.push(...evaluate(profile, plan, { now, cause: 'backfill', touched, isFirstSync }));
    return [closeProfile(profile)];
  });
  return { profiles: written, links: [], transitions };
}

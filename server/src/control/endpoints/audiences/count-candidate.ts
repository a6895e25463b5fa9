/** Evaluates a definition that is not stored over profiles, one portion after the other. */
import { openBreather } from '../../../breathe.ts';
import { fillFromTiles, foldPast } from '../../../compute/fold/backfill.ts';
import { computeTrait } from '../../../compute/fold/compute-trait.ts';
import { holdsBy } from '../../../compute/fold/evaluate-leaf.ts';
import { verdictOf } from '../../../compute/fold/evaluate.ts';
import type { SourceEvent } from '../../../compute/fold/incoming-event.ts';
import type { ProfileKey } from '../../../compute/profiles/profile-key.ts';
import type { ComputedValue, StoredProfile } from '../../../compute/profiles/profile-store.ts';
import { decodeState, type ProfileState } from '../../../compute/state/profile-state.ts';
import type { Candidate } from './candidate.ts';

export type Counting = {
  candidate: Candidate;
  /** By the profile that they belong to. */
  events: ReadonlyMap<ProfileKey, readonly SourceEvent[]>;
  now: number;
};

export type CandidateCount = {
  sampled: number;
  members: number;
  samples: { profile: StoredProfile; value: ComputedValue }[];
};

const MOST_SAMPLES = 10;

export function noCount(): CandidateCount {
  return { sampled: 0, members: 0, samples: [] };
}

export async function countMembers(
  count: CandidateCount,
  profiles: readonly StoredProfile[],
  counting: Counting,
): Promise<void> {
  const breathe = openBreather();
  for (const profile of profiles) {
    const value = valueOf(stateOf(profile, counting), counting);
    count.sampled += 1;
    if (value !== false && value !== null) {
      count.members += 1;
      if (count.samples.length < MOST_SAMPLES) count.samples.push({ profile, value });
    }
    await breathe();
  }
}

function valueOf(state: ProfileState, { candidate: { planned }, now }: Counting): ComputedValue {
  const at = Math.max(now, state.evaluatedAt);
  if (planned.computes === undefined) return null;
  if ('trait' in planned.computes) return computeTrait(state, planned.computes.trait, at).value;
  return holdsBy(verdictOf(state, planned.computes.condition, at));
}

/** With the measures that it does not have yet. */
function stateOf(stored: StoredProfile, { candidate: { plan, eventSlots }, events }: Counting): ProfileState {
  const own = events.get(stored.key);
  const state = decodeState((own === undefined ? stored : foldPast(stored, own, plan, eventSlots)).state);
  fillFromTiles(state, plan);
  return state;
}

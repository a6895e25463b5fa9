import type { DefinitionNumber } from '../profiles/profile-store.ts';
import { mergeGroups } from '../state/groups.ts';
import { mergeMeasure } from '../state/measure.ts';
import { groupsOf, measureFor, type ProfileState, traitsOf, unpackRecord } from '../state/profile-state.ts';
import { mergeSeen } from '../state/seen-ids.ts';
import { mergeTiles } from '../state/tiles.ts';
import { mergeTraits } from '../state/traits.ts';
import type { Plan } from './plan.ts';

/**
 * Adds the facts of one profile to another, as if all events had been of that one. Its held values stay as they are: receivers know the
 * other profile by its own id, and are told nothing about it. An evaluation of everything has to follow. Gives the number of message
 * ids for which there was no room.
 */
export function mergeFacts(into: ProfileState, from: ProfileState, plan: Plan): number {
  for (const record of from.records) {
    const form = plan.measures.get(record.slot);
    if (form !== undefined) mergeMeasure(measureFor(into, record.slot, form), unpackRecord(record, form));
  }
  mergeTiles(into.tiles, from.tiles);
  mergeTraits(traitsOf(into), traitsOf(from), plan.neededTraits);
  mergeGroups(groupsOf(into), groupsOf(from));
  into.evaluatedAt = Math.max(into.evaluatedAt, from.evaluatedAt);
  return mergeSeen(into.seen, from.seen);
}

/** The definitions that count the profile in, or have a value for it. A deleted one has no members any more that could leave. */
export function heldDefinitions(state: ProfileState, plan: Plan): DefinitionNumber[] {
  return state.held
    .filter(({ definition, value }) => value !== false && value !== null && plan.byNumber.has(definition))
    .map(({ definition }) => definition);
}

/** A definition that is not stored, made ready to be evaluated over stored profiles. */
import { type Definition, type EventSelection, leavesOf, parseWindow } from '@millrace/contract/audiences';
import { compilePlan } from '../../../compute/fold/compile-plan.ts';
import { assignSlots, type StoredMeasure } from '../../../compute/fold/measure-need.ts';
import type { Plan, PlannedDefinition } from '../../../compute/fold/plan.ts';
import { wholeMeasures } from '../../../compute/fold/whole-measures.ts';
import type { KnownDefinition } from '../../../store/definitions/definition-views.ts';
import { liveDefinitions } from './live-plan.ts';

/** The workspace as the preview finds it. */
export type CandidateFacts = {
  known: readonly KnownDefinition[];
  /** Measures that states have. */
  inUse: readonly StoredMeasure[];
  /** Of which the workspace has events. */
  sourceIds: readonly string[];
  /** Profiles know nothing of events before this time; undefined: nothing is missing. */
  profilesFrom: number | undefined;
  now: number;
};

export type Candidate = {
  definition: Definition;
  plan: Plan;
  planned: PlannedDefinition;
  /** Slots of measures that neither states nor tiles have: only stored events know their past. */
  eventSlots: ReadonlySet<number>;
  /** The events that count now are not older than this, in milliseconds; undefined: they may have any age. */
  oldestNeeded: number | undefined;
  /** Events before this time are not in it; undefined when nothing is missing. `eventsFrom`: how far stored events were read. */
  completeFrom(eventsFrom: number | undefined, profilesFrom?: number): number | undefined;
};

/** Greater than every number that a definition has, and than every version that a profile has seen. */
const CANDIDATE = 2 ** 31 - 1;
const UNSEEN = Number.MAX_SAFE_INTEGER;

export function compileCandidate(definition: Definition, facts: CandidateFacts): Candidate {
  const { known, inUse, sourceIds: sources, now } = facts;
  const firstSlot = 1 + Math.max(0, ...known.flatMap(({ versions }) => versions).flatMap(slotsOf));
  const assigned = assignSlots(definition, inUse, firstSlot);
  const whole = (events: number | undefined, profiles: number | undefined) =>
    wholeMeasures(definition, { measures: assigned, sources, change: UNSEEN, now, from: { events, profiles } });
  const { measures } = whole(undefined, facts.profilesFrom);
  const own = { number: CANDIDATE, id: 'candidate', definition, version: 1, changed: 0, measures } as const;
  const plan = compilePlan([...liveDefinitions(known), { ...own, use: 'evaluated' }], 1);
  const planned = plan.byNumber.get(CANDIDATE);
  if (planned === undefined) throw new Error('the plan lacks its candidate');
  const ofEvents = measures.filter(({ slot, past }) => slot >= firstSlot && past?.fill === undefined);
  return {
    definition,
    plan,
    planned,
    eventSlots: new Set(ofEvents.map(({ slot }) => slot)),
    oldestNeeded: oldestNeeded(definition, now),
    completeFrom: (events, profiles = facts.profilesFrom) => whole(events, profiles).completeFrom,
  };
}

function slotsOf({ measures }: KnownDefinition['versions'][number]): number[] {
  return (measures as StoredMeasure[]).map(({ slot }) => slot);
}

/** A window looks back so far; events for good, and traits, as far as there is anything. */
function oldestNeeded(definition: Definition, now: number): number | undefined {
  const leaves = definition.kind === 'trait' ? [definition] : leavesOf(definition.when).map(({ leaf }) => leaf);
  const oldest = Math.min(
    ...leaves.map((leaf) => ('trait' in leaf || 'audience' in leaf ? -Infinity : fromOf(leaf, now))),
  );
  return Number.isFinite(oldest) ? oldest : undefined;
}

function fromOf({ window, between }: EventSelection, now: number): number {
  if (between !== undefined) return Date.parse(between.from);
  const windowMs = window === undefined ? undefined : parseWindow(window);
  return windowMs === undefined ? -Infinity : now - windowMs;
}

/**
 * Evaluates the definitions of a profile at a time and makes a transition of each value that changed. A definition is evaluated when an
 * event touched what it looks at, when it was changed itself, and when an audience that it asks for changed; all of them are evaluated
 * when the profile's timer is due, after a merge, and the first time.
 *
 * The timer is lazy: between two full evaluations it only moves to an earlier time, and may find nothing to do when it comes.
 */
import type { IdKind, ProfileKey } from '../profiles/profile-key.ts';
import type { ComputedValue, Transition, TransitionCause } from '../profiles/profile-store.ts';
import { pruneMeasure } from '../state/measure.ts';
import { type ProfileState, unpackRecord } from '../state/profile-state.ts';
import { addHeldValue, heldValueOf } from '../state/held-values.ts';
import { ageTiles } from '../state/tiles.ts';
import { computeTrait } from './compute-trait.ts';
import { holdsBy, numberVerdict, traitVerdict, type Verdict, verdict } from './evaluate-leaf.ts';
import type { Plan, PlannedDefinition, PlannedPart } from './plan.ts';

/** A profile in memory. */
export type OpenProfile = {
  key: ProfileKey;
  workspaceId: string;
  kind: IdKind;
  id: string;
  state: ProfileState;
  /** When it has to be evaluated by itself, at the latest. */
  dueAt: number | undefined;
};

/** The definitions of the plan are older than those with which the profile was evaluated last: the caller has to read them anew. */
export class StalePlan extends Error {
  override readonly name = 'StalePlan';
}

export type Evaluation = {
  now: number;
  cause: TransitionCause;
  messageId?: string;
  /** Definitions that were touched, by their places in the plan; undefined for all. */
  touched: Uint8Array | undefined;
  /** Only time has passed: definitions that changed meanwhile wait for the evaluation that follows, which is not in the past. */
  isOfTime?: boolean;
  /** Transitions of definitions that changed are part of a first sync. */
  isFirstSync?: boolean;
};

const NEVER = Number.POSITIVE_INFINITY;
const NOTHING: Transition[] = [];

/** `now` earlier than the last evaluation is taken as that: time does not go backwards for a profile. */
export function evaluate(profile: OpenProfile, plan: Plan, asked: Evaluation): Transition[] {
  const { state } = profile;
  refuseStale(state, plan);
  const isFirst = state.planVersion === 0;
  const isFull = asked.touched === undefined || isFirst;
  const now = Math.max(asked.now, state.evaluatedAt);
  if (!isFull && state.planVersion === plan.version && asked.touched?.includes(1) === false) {
    state.evaluatedAt = now;
    return NOTHING;
  }
  const marks = asked.touched ?? new Uint8Array(plan.definitions.length);
  const transitions: Transition[] = [];
  let dueAt = isFull ? NEVER : (profile.dueAt ?? NEVER);
  for (let place = 0; place < plan.definitions.length; place += 1) {
    const definition = plan.definitions[place] as PlannedDefinition;
    const isRevised = definition.changed > state.planVersion;
    if (isRevised ? asked.isOfTime === true : !isFull && marks[place] === 0) continue;
    const { value, until } = computeValue(state, definition, now);
    dueAt = Math.min(dueAt, until);
    // A merge may touch all of them; and a profile that the scan of a change left alone may meet that change much later.
    const isOfChange = isRevised && !isFirst && marks[place] === 0 && asked.cause !== 'merge';
    const cause = isOfChange ? definition.changeCause : asked.cause;
    const transition = changeTo(value, profile, definition, { now, cause });
    if (transition === undefined) continue;
    if (cause === 'event' && asked.messageId !== undefined) transition.messageId = asked.messageId;
    if (isRevised && asked.isFirstSync === true) transition.isFirstSync = true;
    transitions.push(transition);
    for (const dependent of definition.dependents) marks[dependent] = 1;
  }
  if (isFull) pruneState(state, plan, now);
  state.evaluatedAt = now;
  if (asked.isOfTime !== true) {
    if (state.planVersion !== plan.version) dropRetired(state, plan);
    state.planVersion = plan.version;
  }
  profile.dueAt = dueAt === NEVER ? undefined : dueAt;
  return transitions;
}

export function refuseStale(state: ProfileState, plan: Plan): void {
  if (state.planVersion > plan.version)
    throw new StalePlan(`A profile knows definitions of version ${state.planVersion}, the plan has ${plan.version}`);
}

/** Runs the changes that are due up to a time, each at its own time. */
export function advance(profile: OpenProfile, plan: Plan, upTo: number): Transition[] {
  const transitions: Transition[] = [];
  while (profile.dueAt !== undefined && profile.dueAt <= upTo)
    transitions.push(
      ...evaluate(profile, plan, { now: profile.dueAt, cause: 'time', touched: undefined, isOfTime: true }),
    );
  return transitions;
}

function computeValue(
  state: ProfileState,
  { computes, isAudience }: PlannedDefinition,
  now: number,
): { value: ComputedValue; until: number } {
  if (computes === undefined) return { value: isAudience ? false : null, until: NEVER };
  if ('trait' in computes) return computeTrait(state, computes.trait, now);
  const found = verdictOf(state, computes.condition, now);
  return { value: holdsBy(found), until: Math.abs(found) };
}

/**
 * Its time is never later than the next change. `all` that holds changes with the first of its parts; one that does not hold waits for
 * the last of the parts that keep it from it. `any` is the opposite.
 */
export function verdictOf(state: ProfileState, part: PlannedPart, now: number): Verdict {
  switch (part.op) {
    case 'numbers':
      return numberVerdict(state, part, now);
    case 'trait':
      return traitVerdict(state, part);
    case 'audience':
      return verdict(isMember(state, part.definition), NEVER);
    case 'not':
      return -verdictOf(state, part.part, now);
    case 'all':
    case 'any':
      return groupVerdict(state, part, now);
  }
}

function groupVerdict(
  state: ProfileState,
  { op, parts }: { op: 'all' | 'any'; parts: readonly PlannedPart[] },
  now: number,
): Verdict {
  const unlessPart = op === 'all';
  let holds = unlessPart;
  let soonest = NEVER;
  let latest = 0;
  for (const part of parts) {
    const found = verdictOf(state, part, now);
    soonest = Math.min(soonest, Math.abs(found));
    if (holdsBy(found) === unlessPart) continue;
    // No other part can change it any more.
    if (Math.abs(found) === NEVER) return found;
    holds = !unlessPart;
    latest = Math.max(latest, Math.abs(found));
  }
  return verdict(holds, holds === unlessPart ? soonest : latest);
}

function isMember(state: ProfileState, definition: number | undefined): boolean {
  return definition !== undefined && heldValueOf(state.held, definition)?.value === true;
}

function changeTo(
  value: ComputedValue,
  { key, kind, state }: OpenProfile,
  { number, isAudience, isTold, isForAnonymous, settleMs }: PlannedDefinition,
  { now, cause }: Pick<Evaluation, 'now' | 'cause'>,
): Transition | undefined {
  const held = heldValueOf(state.held, number);
  const previous = held?.value ?? (isAudience ? false : null);
  if (isSame(previous, value)) return undefined;
  const sequence = (held?.sequence ?? 0) + 1;
  if (held === undefined) addHeldValue(state.held, { definition: number, sequence, value });
  else {
    held.sequence = sequence;
    held.value = value;
  }
  const isSent = isTold && (kind === 'user' || isForAnonymous);
  const sendAt = isSent ? now + settleMs : undefined;
  const computed = isAudience ? 'audience' : 'trait';
  return { kind: computed, definition: number, key, at: now, value, previous, sequence, cause, sendAt };
}

function isSame(a: ComputedValue, b: ComputedValue): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((each, at) => each === b[at]);
}

/** Takes away what belongs to deleted definitions. */
function dropRetired(state: ProfileState, plan: Plan): void {
  const isNeeded = ({ slot }: { slot: number }) => slot > plan.lastSlot || plan.measures.has(slot);
  if (!state.records.every(isNeeded)) state.records = state.records.filter(isNeeded);
  const isKnown = ({ definition }: { definition: number }) => plan.byNumber.has(definition);
  if (!state.held.every(isKnown)) state.held = state.held.filter(isKnown);
}

/** Takes away what can count no more, so that idle profiles stay small. */
export function pruneState(state: ProfileState, plan: Plan, now: number): void {
  for (const record of state.records) {
    const form = plan.measures.get(record.slot);
    if (form !== undefined) pruneMeasure(unpackRecord(record, form), form, now);
  }
  ageTiles(state.tiles, now);
}

/** Why a profile has a value: every leaf with what was counted, its verdict, and when that changes if no event comes. */
import { type AcceptedEvent, type JsonValue, parseTimestamp, ruleMatcher } from '@millrace/contract';
import {
  AMOUNT_SCALE,
  countsUntil,
  type Definition,
  type EventSelection,
  isEventLeaf,
  isTraitLeaf,
  type Leaf,
  parseWindow,
} from '@millrace/contract/audiences';
import { eventName } from '../../domain/event-name.ts';
import type { ComputedValue, DefinitionNumber, StoredProfile } from '../profiles/profile-store.ts';
import { firstFrom, oldestLive } from '../state/buckets.ts';
import { decodeState, type ProfileState } from '../state/profile-state.ts';
import { heldValueOf } from '../state/held-values.ts';
import { fillFromTiles } from './backfill.ts';
import { leavesIn } from './compile-plan.ts';
import { computeTrait } from './compute-trait.ts';
import {
  averageOf,
  cellsOf,
  holdsBy,
  numberVerdict,
  totalFrom,
  traitValue,
  traitVerdict,
  type Verdict,
} from './evaluate-leaf.ts';
import { verdictOf } from './evaluate.ts';
import type { SourceEvent } from './incoming-event.ts';
import type { NumberLeaf, Plan, PlannedLeaf } from './plan.ts';

export type LeafExplanation = {
  /** The place in the condition, as in `/all/1/not`. */
  path: string;
  leaf: Leaf;
  /** The count, sum, trait and so on; null for none. */
  value: JsonValue;
  holds: boolean;
  /** When the verdict changes by itself; undefined: not without an event. */
  changesAt: number | undefined;
};

export type ValueExplanation = {
  value: ComputedValue;
  sequence: number;
  /** The value cannot change by itself before this time; undefined: not without an event. */
  changesAt: number | undefined;
  /** A list trait had more values than it holds. */
  isCapped: boolean;
  /** Empty for traits. */
  leaves: LeafExplanation[];
};

/** `now` before the last evaluation is taken as that. Undefined for a definition that is not evaluated. */
export function explainValue(
  { state: bytes }: Pick<StoredProfile, 'state'>,
  plan: Plan,
  number: DefinitionNumber,
  now: number,
): ValueExplanation | undefined {
  const definition = plan.byNumber.get(number);
  if (definition?.computes === undefined) return undefined;
  const state = decodeState(bytes);
  fillFromTiles(state, plan);
  const at = Math.max(now, state.evaluatedAt);
  const sequence = heldValueOf(state.held, number)?.sequence ?? 0;
  if ('trait' in definition.computes) {
    const { value, until, isCapped = false } = computeTrait(state, definition.computes.trait, at);
    return { value, sequence, changesAt: timeOf(until), isCapped, leaves: [] };
  }
  const { condition } = definition.computes;
  const found = verdictOf(state, condition, at);
  const leaves = leavesIn(condition).map((leaf) => explainLeaf(state, leaf, plan, at));
  return { value: holdsBy(found), sequence, changesAt: timeOf(found), isCapped: false, leaves };
}

function explainLeaf(state: ProfileState, leaf: PlannedLeaf, plan: Plan, now: number): LeafExplanation {
  const where = { path: leaf.path, leaf: leaf.leaf };
  switch (leaf.op) {
    case 'numbers': {
      const found = numberVerdict(state, leaf, now);
      return { ...where, value: numberOf(state, leaf, now), holds: holdsBy(found), changesAt: timeOf(found) };
    }
    case 'trait':
      return {
        ...where,
        value: traitValue(state, leaf) ?? null,
        holds: holdsBy(traitVerdict(state, leaf)),
        changesAt: undefined,
      };
    case 'audience': {
      const holds = holdsBy(verdictOf(state, leaf, now));
      const asked = leaf.definition === undefined ? undefined : plan.byNumber.get(leaf.definition)?.computes;
      const changesAt =
        asked !== undefined && 'condition' in asked ? timeOf(verdictOf(state, asked.condition, now)) : undefined;
      return { ...where, value: holds, holds, changesAt };
    }
  }
}

function numberOf(state: ProfileState, { measure, windowMs, aggregate }: NumberLeaf, now: number): number | null {
  const cells = cellsOf(state, measure);
  if (cells === undefined) return aggregate === 'count' || aggregate === 'sum' ? 0 : null;
  const total = totalFrom(
    cells,
    measure.kind,
    firstFrom(cells.buckets, oldestLive(now, windowMs, measure.resolutionMs)),
  );
  if (aggregate === 'count') return total.count;
  if (aggregate === 'sum') return Number(total.amount) / AMOUNT_SCALE;
  if (total.count === 0) return null;
  return aggregate === 'average' ? averageOf(total) : Number(total.amount);
}

function timeOf(until: Verdict): number | undefined {
  return Number.isFinite(until) ? Math.abs(until) : undefined;
}

/**
 * The newest of a profile's events that a leaf counts, for example the last three: ids are too long to be kept in every profile, so they
 * are looked up among the events that are still stored.
 */
export function lastEventsOf(
  leaf: Leaf,
  { sources }: Pick<Definition, 'sources'>,
  events: readonly SourceEvent[],
  { now, most }: { now: number; most: number },
): AcceptedEvent[] {
  const counts = countsIn(leaf, now);
  return events
    .filter(({ event, sourceId }) => (sources === undefined || sources.includes(sourceId)) && counts(event))
    .map(({ event }) => event)
    .toSorted((a, b) => timeOfEvent(b) - timeOfEvent(a) || (a.messageId < b.messageId ? 1 : -1))
    .slice(0, most);
}

function countsIn(leaf: Leaf, now: number): (event: AcceptedEvent) => boolean {
  if (isEventLeaf(leaf)) return selects(leaf, now);
  if (!isTraitLeaf(leaf)) return () => false;
  const [name = ''] = leaf.trait.split('.');
  return ({ type, traits }) => type === 'identify' && traits !== undefined && Object.hasOwn(traits, name);
}

function selects(selection: EventSelection, now: number): (event: AcceptedEvent) => boolean {
  const { type = 'track', event: name, where = [], window, between } = selection;
  const windowMs = window === undefined ? undefined : parseWindow(window);
  const [from, to] = [between?.from, between?.to].map((time) => parseTimestamp(time));
  const matches = ruleMatcher(where);
  return (event) => {
    if (event.type !== type || (name !== undefined && eventName(event) !== name) || !matches(event)) return false;
    const at = timeOfEvent(event);
    if (windowMs !== undefined && now >= countsUntil(at, windowMs)) return false;
    return (from === undefined || at >= from) && (to === undefined || at < to);
  };
}

function timeOfEvent({ timestamp, receivedAt }: AcceptedEvent): number {
  return Math.min(parseTimestamp(timestamp) ?? 0, parseTimestamp(receivedAt) ?? 0);
}

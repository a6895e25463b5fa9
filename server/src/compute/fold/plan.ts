import type { AcceptedEvent, FilterRule, JsonValue } from '@millrace/contract';
import type { Computation, Leaf } from '@millrace/contract/audiences';
import type { DefinitionNumber } from '../profiles/profile-store.ts';
import type { Amount } from '../state/bytes.ts';
import type { MeasureForm } from '../state/measure.ts';

/** A measure as the fold uses it. */
export type PlannedMeasure = MeasureForm & {
  slot: number;
  /** Reads the field; undefined for counts. `time`: its value is the time of the event. */
  read: ((event: AcceptedEvent) => JsonValue | undefined) | 'time' | undefined;
  /** The trait that is kept, for measures of that kind. */
  trait: string | undefined;
  between: { from: number; to: number } | undefined;
  /** Places in `Plan.definitions` of those that look at it. */
  users: number[];
};

/** Measures that look at the same events, so that the rules are tried once. */
export type MeasureGroup = {
  /** Says what they look at; the same for the same. */
  key: string;
  sources: ReadonlySet<string> | undefined;
  matches: ((event: AcceptedEvent) => boolean) | undefined;
  measures: PlannedMeasure[];
};

/** The groups of one type of call. `byName` has those of any name in each of its lists too: one lookup is enough. */
export type MeasureGroups = { byName: Map<string, MeasureGroup[]>; any: MeasureGroup[] };

/** The bounds in the unit of the aggregate: events, whole millionths (sum, average), or the number itself (min, max). */
export type Bounds = { atLeast: Amount | undefined; lessThan: Amount | undefined; exactly: Amount | undefined };

export type NumberLeaf = {
  op: 'numbers';
  path: string;
  leaf: Leaf;
  measure: PlannedMeasure;
  aggregate: 'count' | 'sum' | 'average' | 'min' | 'max';
  windowMs: number;
  bounds: Bounds;
  /** Set for a count that is compared with this number only. */
  atLeastOnly: number | undefined;
};
export type TraitTest = {
  op: 'trait';
  path: string;
  leaf: Leaf;
  /** The steps to the value: the trait, then fields of it. */
  names: string[];
  rule: FilterRule;
  /** For definitions over some of the sources. */
  measure: PlannedMeasure | undefined;
};
export type AudienceTest = { op: 'audience'; path: string; leaf: Leaf; definition: DefinitionNumber | undefined };
export type PlannedLeaf = NumberLeaf | TraitTest | AudienceTest;
/** A part of a condition. */
export type PlannedPart = { op: 'all' | 'any'; parts: PlannedPart[] } | { op: 'not'; part: PlannedPart } | PlannedLeaf;

export type PlannedTrait = { compute: Computation; measure: PlannedMeasure; windowMs: number };

/** A definition as it is evaluated. */
export type PlannedDefinition = {
  number: DefinitionNumber;
  id: string;
  /** The version of all definitions at which what this one evaluates last changed. */
  changed: number;
  /** The cause of a transition that nothing but the change of the definition led to. */
  changeCause: 'backfill' | 'edit';
  /** Undefined for a definition that is being deleted: everyone leaves. */
  computes: { condition: PlannedPart } | { trait: PlannedTrait } | undefined;
  isAudience: boolean;
  settleMs: number;
  /** Someone may have to be told of its transitions. */
  isTold: boolean;
  isForAnonymous: boolean;
  /** Places of audiences that ask for this one; they come later in the list. */
  dependents: number[];
};

/** Profiles that have not met the definitions of version `since` get the measure from these tiles. */
export type PlannedFill = { measure: PlannedMeasure; since: number; tiles: readonly number[] };

/** All that a workspace computes, ready to be used for each event. */
export type Plan = {
  /** The newest change of its definitions. */
  version: number;
  groups: ReadonlyMap<string, MeasureGroups>;
  measures: ReadonlyMap<number, PlannedMeasure>;
  /** Slots up to here that are in no measure belong to deleted definitions. */
  lastSlot: number;
  /** Audiences come after those that they ask for. */
  definitions: readonly PlannedDefinition[];
  byNumber: ReadonlyMap<DefinitionNumber, PlannedDefinition>;
  /** Places of the definitions that ask for a trait, by its first name. */
  byTrait: ReadonlyMap<string, readonly number[]>;
  neededTraits: ReadonlySet<string>;
  /** Measures whose past is in the tiles, newest first. */
  fills: readonly PlannedFill[];
  /** Hashes of source, type and name, kept because hashing costs more than the rest of a tile. */
  tileHashes: Map<string, number>;
};

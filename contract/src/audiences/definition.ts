import type { FilterOp, FilterRule, FilterValue } from '../filter.ts';

/** The calls that conditions and traits can count. Group calls become a profile's groups, alias calls merge profiles. */
export const COUNTED_TYPES = ['track', 'page', 'screen', 'identify'] as const;
export type CountedType = (typeof COUNTED_TYPES)[number];

/** The events that are looked at: of one type, of one name, that fit every rule. Without a type: track. */
export interface EventSelection {
  type?: CountedType;
  /** The name of a track event, page or screen. Left out: every one of the type. */
  event?: string;
  where?: FilterRule[];
  /** `90m`, `12h` or `30d`: how long an event counts. Without window and between, it counts for good. */
  window?: string;
  /** ISO 8601; an event counts from `from` on and before `to`. */
  between?: { from: string; to: string };
}

/** Compares the number of events, or the sum, least, greatest or average value of a field of them. */
export interface EventLeaf extends EventSelection {
  sum?: string;
  min?: string;
  max?: string;
  average?: string;
  atLeast?: number;
  lessThan?: number;
  exactly?: number;
}

/** Looks at the newest value of a trait that identify calls gave the profile. `address.city` looks into an object. */
export interface TraitLeaf {
  trait: string;
  op: FilterOp;
  value?: FilterValue;
  values?: FilterValue[];
}

/** Holds for the members of another audience, by its id. */
export interface AudienceLeaf {
  audience: string;
}

export type Leaf = EventLeaf | TraitLeaf | AudienceLeaf;
export type Condition = { all: Condition[] } | { any: Condition[] } | { not: Condition } | Leaf;

interface DefinitionFields {
  name: string;
  /** Left out: every source of the workspace, also those of later. */
  sources?: string[];
  destinations?: string[];
  /** Profiles without a userId are told too. */
  includeAnonymous?: boolean;
  /** How long a change waits before it is told; later changes of the same profile are told with it. Without it: settleSecondsOf. */
  settleSeconds?: number;
}

export interface AudienceDefinition extends DefinitionFields {
  kind: 'audience';
  when: Condition;
}

export const COMPUTATIONS = [
  'count',
  'sum',
  'average',
  'min',
  'max',
  'first',
  'last',
  'most_frequent',
  'unique_list',
  'unique_count',
] as const;
export type Computation = (typeof COMPUTATIONS)[number];

export interface TraitDefinition extends DefinitionFields, EventSelection {
  kind: 'trait';
  compute: Computation;
  /** The field whose value is computed; every computation but `count` has one. `timestamp` for first and last only. */
  field?: string;
}

export type Definition = AudienceDefinition | TraitDefinition;

export const MAX_DEFINITIONS = 200;
export const MAX_LEAVES = 20;
/** The levels of a condition, its leaves included: all → any → not → leaf is the deepest. */
export const MAX_CONDITION_DEPTH = 4;
export const MAX_WHERE_RULES = 20;
export const MAX_SOURCES = 100;
export const MAX_DESTINATIONS = 100;
export const MAX_SETTLE_SECONDS = 3_600;
/** The most values of a list trait; beyond it the newest are kept, and the trait is marked as capped. */
export const MAX_LIST_VALUES = 100;
/** Texts of traits and list values are compared and kept up to this length. */
export const MAX_VALUE_CHARACTERS = 256;
/** Numbers beyond it are no measurements: an event with one is taken as if the field were missing. */
export const MAX_AMOUNT = 1e15;
/** Sums and averages are made of whole millionths, so that the order of the events makes no difference. */
export const AMOUNT_SCALE = 1_000_000;

const SETTLED_NUMBERS: ReadonlySet<Computation> = new Set(['count', 'sum', 'average', 'min', 'max', 'unique_count']);

/** Numbers change with every event, so they wait a minute for the next change; everything else is told at once. */
export function settleSecondsOf(definition: Definition): number {
  if (definition.settleSeconds !== undefined) return definition.settleSeconds;
  return definition.kind === 'trait' && SETTLED_NUMBERS.has(definition.compute) ? 60 : 0;
}

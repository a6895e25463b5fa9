import { type Static, type TSchema, Type } from 'typebox';
import {
  type Condition as ConditionOf,
  COMPUTATIONS,
  COUNTED_TYPES,
  MAX_DESTINATIONS,
  MAX_LEAVES,
  MAX_SETTLE_SECONDS,
  MAX_SOURCES,
} from '../audiences/definition.ts';
import { FILTER_OPS } from '../filter.ts';
import { FilterRule, Filters } from './destinations.ts';
import { Name, PageOf, PageQuery, Time } from './page.ts';

const Ids = (maxItems: number) => Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems });
const Field = Type.String({ minLength: 1, maxLength: 500 });

/** Which events are looked at, and how long they count: within a window such as `30d`, between two times, or for good. */
const selection = {
  type: Type.Optional(Type.Enum([...COUNTED_TYPES])),
  event: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  where: Type.Optional(Filters),
  window: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,6}[mhd]$' })),
  between: Type.Optional(Type.Object({ from: Time, to: Time }, { additionalProperties: false })),
};

/** The number of events, or the sum, min, max or average of a field, compared with a number. */
export const EventLeaf = Type.Object(
  {
    ...selection,
    sum: Type.Optional(Field),
    min: Type.Optional(Field),
    max: Type.Optional(Field),
    average: Type.Optional(Field),
    atLeast: Type.Optional(Type.Number()),
    lessThan: Type.Optional(Type.Number()),
    exactly: Type.Optional(Type.Number()),
  },
  { additionalProperties: false },
);
export const TraitLeaf = Type.Object(
  {
    trait: Type.String({ minLength: 1, maxLength: 200 }),
    op: Type.Enum([...FILTER_OPS]),
    value: FilterRule.properties.value,
    values: FilterRule.properties.values,
  },
  { additionalProperties: false },
);
export const AudienceLeaf = Type.Object(
  { audience: Type.String({ minLength: 1, maxLength: 100 }) },
  { additionalProperties: false },
);

/** The parts of `all`, `any` and `not` are conditions again: a schema cannot say that here, and checkDefinition sees to it. */
const Inner = Type.Unsafe<ConditionOf>({ type: 'object', description: 'A condition' });
export const Condition = Type.Union([
  Type.Object({ all: Type.Array(Inner, { minItems: 1, maxItems: MAX_LEAVES }) }, { additionalProperties: false }),
  Type.Object({ any: Type.Array(Inner, { minItems: 1, maxItems: MAX_LEAVES }) }, { additionalProperties: false }),
  Type.Object({ not: Inner }, { additionalProperties: false }),
  TraitLeaf,
  AudienceLeaf,
  EventLeaf,
]);

const shared = {
  name: Name,
  /** Left out: every source of the workspace, also those of later. */
  sources: Type.Optional(Ids(MAX_SOURCES)),
  destinations: Type.Optional(Ids(MAX_DESTINATIONS)),
  includeAnonymous: Type.Optional(Type.Boolean()),
  settleSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SETTLE_SECONDS })),
};

export const AudienceDefinition = Type.Object(
  { kind: Type.Literal('audience'), ...shared, when: Condition },
  { additionalProperties: false },
);
export const TraitDefinition = Type.Object(
  {
    kind: Type.Literal('trait'),
    ...shared,
    ...selection,
    compute: Type.Enum([...COMPUTATIONS]),
    field: Type.Optional(Field),
  },
  { additionalProperties: false },
);
/** An audience or a computed trait, as people write it. checkDefinition says more about it than this schema can. */
export const NewDefinition = Type.Union([AudienceDefinition, TraitDefinition]);

const OrNull = <Known extends TSchema>(known: Known) => Type.Union([known, Type.Null()]);
const Count = Type.Integer({ minimum: 0 });

/** Fields that are left out stay as they are; null takes one away. The key stays, whatever the name becomes, and so does the kind. */
export const DefinitionChange = Type.Object(
  {
    name: Type.Optional(Name),
    destinations: Type.Optional(Ids(MAX_DESTINATIONS)),
    sources: Type.Optional(OrNull(Ids(MAX_SOURCES))),
    includeAnonymous: Type.Optional(Type.Boolean()),
    settleSeconds: Type.Optional(OrNull(shared.settleSeconds)),
    /** Of audiences. */
    when: Type.Optional(Condition),
    /** Of traits, with all below. */
    compute: Type.Optional(TraitDefinition.properties.compute),
    field: Type.Optional(OrNull(Field)),
    type: Type.Optional(OrNull(selection.type)),
    event: Type.Optional(OrNull(selection.event)),
    where: Type.Optional(OrNull(selection.where)),
    window: Type.Optional(OrNull(selection.window)),
    between: Type.Optional(OrNull(selection.between)),
  },
  { additionalProperties: false },
);

/** `total` is null until it is known. */
const ComputeProgress = Type.Object({ done: Count, total: OrNull(Count) });

/** An audience has `when`, a trait `compute` and the events that it looks at. */
export const Definition = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['audience', 'trait']),
  /** The name of the trait in the identify calls that are sent. Never that of another definition, also not of a deleted one. */
  key: Type.String(),
  name: Type.String(),
  /**
   * `preparing`: the readers have not begun to count for it. `computing`: its past is being counted. `live`: changes are told as they
   * happen. `deleting`: it ends; its members leave first if that was asked for.
   */
  state: Type.Enum(['preparing', 'computing', 'live', 'deleting']),
  /** Of the body that this answer shows: the live one, or the first while there is none. */
  version: Type.Integer(),
  sources: Type.Optional(Type.Array(Type.String())),
  destinations: Type.Array(Type.String()),
  includeAnonymous: Type.Boolean(),
  settleSeconds: Type.Integer(),
  when: Type.Optional(Condition),
  compute: Type.Optional(TraitDefinition.properties.compute),
  field: Type.Optional(Field),
  ...selection,
  /** Members of an audience, or profiles with a value of a trait. */
  size: Count,
  /** Events before this time are not in it; null when nothing is missing. */
  completeFrom: OrNull(Time),
  /** Events after this time were lost before they were counted; null when none were. */
  incompleteSince: OrNull(Time),
  /** Of the computation of the past, or of the first sync, while one runs. */
  progress: OrNull(ComputeProgress),
  /** A change that is computed beside the live version and then replaces it. */
  edit: OrNull(
    Type.Object({
      version: Type.Integer(),
      state: Type.Enum(['preparing', 'computing']),
      progress: OrNull(ComputeProgress),
    }),
  ),
  /** Identifies of first syncs that are not sent yet. Of a workspace no more than 50,000 are counted. */
  firstSyncWaiting: Count,
  /** Sources and destinations that it names and that are deleted: it goes on without them. */
  missing: Type.Object({
    sources: Type.Array(Type.String()),
    destinations: Type.Array(Type.String()),
  }),
  createdAt: Time,
  updatedAt: Time,
});
export const Definitions = Type.Object({
  ...PageOf(Definition).properties,
  /** How far behind the events the computation is; null when nothing was computed yet. */
  lagSeconds: OrNull(Type.Number()),
});
export const DefinitionQuery = Type.Object(
  { ...PageQuery.properties, kind: Type.Optional(Type.Enum(['audience', 'trait'])) },
  { additionalProperties: false },
);

export const DeleteDefinitionQuery = Type.Object(
  {
    /** `exit`: every member is told that they left (`false`, null for a trait). `leave`: nothing is told. */
    members: Type.Enum(['exit', 'leave']),
  },
  { additionalProperties: false },
);

export const ResyncDefinition = Type.Object(
  {
    /** One of the definition's destinations; all of them unless given. */
    destinationId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  { additionalProperties: false },
);

/** True or false of an audience; of a trait its value, null for none. */
export const ComputedValue = Type.Union([
  Type.Boolean(),
  Type.Number(),
  Type.String(),
  Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  Type.Null(),
]);

/** One of the two. */
export const ProfileId = { userId: Type.Optional(Type.String()), anonymousId: Type.Optional(Type.String()) };

export const PreviewDefinition = Type.Object(
  {
    definition: NewDefinition,
    /** Looks at every profile, as far as the time for it goes, and not at a sample. */
    exact: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);
export const DefinitionPreview = Type.Object({
  /** Members now, or profiles with a value. Between `low` and `high` in 98 of 100 samples. */
  size: Count,
  low: Count,
  high: Count,
  /** Every profile was looked at: `low` and `high` are `size`. False also when `exact` was asked for and the time ran out. */
  isExact: Type.Boolean(),
  /** Profiles of the workspace. */
  profiles: Count,
  /** Profiles that were looked at. */
  sampled: Count,
  /** Events before this time are not in it; null when nothing is missing. */
  completeFrom: OrNull(Time),
  /** Up to ten members, or profiles with a value. Left out for a token or role without `profiles:read`. */
  samples: Type.Optional(Type.Array(Type.Object({ ...ProfileId, value: ComputedValue }))),
  tookMs: Type.Integer(),
});

const Cause = Type.Enum(['event', 'time', 'backfill', 'edit', 'merge']);

export const DefinitionMembers = PageOf(
  Type.Object({ ...ProfileId, value: ComputedValue, since: Time, sequence: Type.Integer() }),
);

export const ValueChange = Type.Object({
  at: Time,
  value: ComputedValue,
  /** Counts the changes of one profile, from 1. */
  sequence: Type.Integer(),
  cause: Cause,
  /** The event that caused it; null for other causes. */
  messageId: OrNull(Type.String()),
});
/** Newest first. Neither id: the profile was merged into another one. */
export const DefinitionHistory = PageOf(Type.Object({ ...ProfileId, ...ValueChange.properties }));

export const CURVE_RANGES = ['1h', '24h', '7d', '30d'] as const;
export const CurveQuery = Type.Object(
  { range: Type.Optional(Type.Enum([...CURVE_RANGES], { default: '24h' })) },
  { additionalProperties: false },
);
export const SizeCurve = Type.Object({
  from: Time,
  to: Time,
  /** In seconds. */
  step: Type.Integer(),
  /** Steps at whose end the size was another one than before, oldest first; the last one is of now. */
  points: Type.Array(Type.Object({ at: Time, size: Count })),
});

export type Definition = Static<typeof Definition>;
export type Definitions = Static<typeof Definitions>;
export type DefinitionChange = Static<typeof DefinitionChange>;
export type DefinitionPreview = Static<typeof DefinitionPreview>;
export type PreviewDefinition = Static<typeof PreviewDefinition>;
export type NewDefinition = Static<typeof NewDefinition>;
export type DefinitionMembers = Static<typeof DefinitionMembers>;
export type DefinitionHistory = Static<typeof DefinitionHistory>;
export type ValueChange = Static<typeof ValueChange>;
export type SizeCurve = Static<typeof SizeCurve>;

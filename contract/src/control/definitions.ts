import { Type } from 'typebox';
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
import { Name, Time } from './page.ts';

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

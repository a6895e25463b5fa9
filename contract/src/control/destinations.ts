import { type Static, Type } from 'typebox';
import { FILTER_OPS } from '../filter.ts';
import { Id, Name, PageOf, PageQuery, Projection, Time } from './page.ts';

/** The catalog entry defines the settings. Secret values come back as `{"set": true}`. */
const Settings = Type.Record(Type.String(), Type.Unknown());

const FilterValue = Type.Union([Type.String({ maxLength: 1_000 }), Type.Number(), Type.Boolean()]);

/** `value` or `values`, depending on the op; the server refuses a rule that has the wrong one. */
export const FilterRule = Type.Object(
  {
    field: Type.String({ minLength: 1, maxLength: 500 }),
    op: Type.Enum([...FILTER_OPS]),
    value: Type.Optional(FilterValue),
    values: Type.Optional(Type.Array(FilterValue, { minItems: 1, maxItems: 100 })),
  },
  { additionalProperties: false },
);
/** An event passes when every rule holds. */
export const Filters = Type.Array(FilterRule, { maxItems: 20 });

export const Destination = Type.Object({
  id: Id('dst'),
  sourceId: Id('src'),
  catalog: Type.String(),
  name: Name,
  enabled: Type.Boolean(),
  paused: Type.Boolean(),
  pausedAt: Type.Union([Time, Type.Null()]),
  /** The user or token that paused it. Of one paused destination only, and for those who may read the audit log. */
  pausedBy: Type.Optional(
    Type.Union([
      Type.Object({
        kind: Type.String(),
        id: Type.String(),
        /** Null for a token that is gone, or a user who is no longer a member. */
        name: Type.Union([Type.String(), Type.Null()]),
        email: Type.Union([Type.String(), Type.Null()]),
      }),
      Type.Null(),
    ]),
  ),
  /** The rules that an event must pass to reach it; empty when every event does. */
  filters: Filters,
  settings: Settings,
  projection: Projection,
  createdAt: Time,
  updatedAt: Time,
});
export const Destinations = PageOf(Destination);
export const DestinationQuery = Type.Object(
  { ...PageQuery.properties, sourceId: Type.Optional(Type.String({ maxLength: 100 })) },
  { additionalProperties: false },
);

export const NewDestination = Type.Object(
  {
    sourceId: Type.String(),
    catalog: Type.String(),
    name: Type.Optional(Name),
    enabled: Type.Optional(Type.Boolean({ default: false })),
    filters: Type.Optional(Filters),
    settings: Settings,
  },
  { additionalProperties: false },
);
/**
 * Settings that are left out stay as they are, null takes one away, and `{"set": true}` keeps a stored secret. A header is
 * kept only with its URL: a new URL needs its headers anew.
 */
export const DestinationChange = Type.Object(
  {
    name: Type.Optional(Name),
    enabled: Type.Optional(Type.Boolean()),
    /** Events wait in the lane of a paused destination; a disabled one skips them. */
    paused: Type.Optional(Type.Boolean()),
    /** All of them, in place of those before; an empty list takes them away. */
    filters: Type.Optional(Filters),
    settings: Type.Optional(Settings),
  },
  { additionalProperties: false, minProperties: 1 },
);
export const RotateSecret = Type.Object(
  {
    sharedSecret: Type.Optional(Type.String({ minLength: 8, maxLength: 500 })),
    overlapHours: Type.Optional(Type.Integer({ minimum: 0, maximum: 168, default: 24 })),
  },
  { additionalProperties: false },
);
/** The only answer that holds the new secret, and only when the server made it. */
export const RotatedSecret = Type.Object({
  sharedSecret: Type.Optional(Type.String()),
  /** Until then webhook-signature also holds a signature with the previous secret; null when there is none. */
  previousValidUntil: Type.Union([Time, Type.Null()]),
});

export const CatalogItem = Type.Object({
  name: Type.String(),
  accepts: Type.Array(Type.String()),
  acceptsHistory: Type.Boolean(),
  settingsSchema: Type.Record(Type.String(), Type.Unknown()),
});
export const CatalogItems = Type.Object({ items: Type.Array(CatalogItem) });

export type Destination = Static<typeof Destination>;

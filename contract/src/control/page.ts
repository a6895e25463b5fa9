import { type Static, type TSchema, Type } from 'typebox';

export const Id = (prefix: string) => Type.String({ pattern: `^${prefix}_[0-9A-Za-z-]{1,64}$` });
export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' });
export const Time = Type.String({ format: 'date-time' });

/** A page of a list. `nextCursor` is the cursor of the next page, null on the last. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({ items: Type.Array(item), nextCursor: Type.Union([Type.String(), Type.Null()]) });

export const PageQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    cursor: Type.Optional(Type.String({ maxLength: 400 })),
  },
  { additionalProperties: false },
);

/** Every error of the API (RFC 9457). */
export const ProblemDocument = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  /** Stable: programs should branch on it. */
  code: Type.String(),
  /** A sentence for people: the mistake and its remedy. */
  detail: Type.String(),
  requestId: Type.String(),
  /** Which fields are wrong, for `invalid_request`. */
  errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
});

/**
 * Whether collect and deliver act on the source or destination as this answer shows it. `pending`: the change is on its way,
 * mostly for less than a second. `failed`: the config bucket has no room for it, and `why` says what to do; even then a
 * disable, a pause or a revoked key takes effect.
 */
export const Projection = Type.Object({
  state: Type.Enum(['applied', 'pending', 'failed']),
  since: Type.Union([Time, Type.Null()]),
  why: Type.Union([Type.String(), Type.Null()]),
});
export type Projection = Static<typeof Projection>;

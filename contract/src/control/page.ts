import { type Static, type TSchema, Type } from 'typebox';

export const Id = (prefix: string) => Type.String({ pattern: `^${prefix}_[0-9A-Za-z-]{1,64}$` });
export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' });
export const Time = Type.String({ format: 'date-time' });

/** A list comes in pages: `nextCursor` asks for the one after this, and is null on the last. */
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
  /** Stable; what a program should look at. */
  code: Type.String(),
  /** What happened and what to do. */
  detail: Type.String(),
  requestId: Type.String(),
  /** Which fields are wrong, for `invalid_request`. */
  errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
});

/**
 * Whether collect and deliver act on a source or destination as it is here. `pending`: they are being told, mostly within a
 * second. `failed`: its configuration finds no room, `why` says what to do; what was turned off is off all the same.
 */
export const Projection = Type.Object({
  state: Type.Enum(['applied', 'pending', 'failed']),
  since: Type.Union([Time, Type.Null()]),
  why: Type.Union([Type.String(), Type.Null()]),
});
export type Projection = Static<typeof Projection>;

import { type Static, Type } from 'typebox';
import { Id, Time } from './page.ts';

const CallName = Type.Union(
  ['track', 'identify', 'page', 'screen', 'group', 'alias'].map((type) => Type.Literal(type)),
);

/** Filters of the tail; without a field it shows everything. */
export const TailQuery = Type.Object(
  {
    type: Type.Optional(CallName),
    /** The name of a track event, page or screen. */
    event: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    userId: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  },
  { additionalProperties: false },
);

const About = {
  at: Time,
  messageId: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  userId: Type.Optional(Type.String()),
  anonymousId: Type.Optional(Type.String()),
};

/** The data of each event of the stream; its name is the `kind`. */
export const TailEvent = Type.Union([
  Type.Object({ kind: Type.Literal('open'), sourceId: Id('src'), maxPerSecond: Type.Integer() }),
  Type.Object({ kind: Type.Literal('accepted'), ...About, call: Type.Optional(Type.Unknown()) }),
  Type.Object({ kind: Type.Literal('refused'), ...About, code: Type.String(), message: Type.String() }),
  Type.Object({
    kind: Type.Literal('outcome'),
    ...About,
    outcome: Type.String(),
    destinationId: Id('dst'),
    deliveryId: Type.String(),
    attempt: Type.Optional(Type.Integer()),
    why: Type.Optional(Type.Array(Type.String())),
    nextAt: Type.Optional(Time),
  }),
  Type.Object({ kind: Type.Literal('sampled'), leftOut: Type.Integer(), maxPerSecond: Type.Integer() }),
  Type.Object({ kind: Type.Literal('end'), code: Type.String() }),
]);

export type TailQuery = Static<typeof TailQuery>;
export type TailEvent = Static<typeof TailEvent>;

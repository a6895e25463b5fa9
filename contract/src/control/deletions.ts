import { type Static, Type } from 'typebox';
import { jobProperties } from './jobs.ts';
import { PageOf, Time } from './page.ts';

export const NewDeletion = Type.Object(
  {
    userIds: Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { minItems: 1, maxItems: 1_000 }),
    /** All sources of the workspace when left out. */
    sources: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 1_000 })),
    /** Whether later calls of these users are dropped when they come in. */
    suppress: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);

const Notification = Type.Object({
  sourceId: Type.String(),
  destinationId: Type.String(),
  /** The `webhook-id` of the notification. */
  deliveryId: Type.String(),
  sentAt: Time,
  /** The state of its delivery in the record; null when the record has none. */
  outcome: Type.Union([Type.String(), Type.Null()]),
  status: Type.Union([Type.Integer(), Type.Null()]),
});

const Receipt = Type.Object({
  notifications: Type.Array(Notification),
  /** How much was erased in each store; a store that is not named has not been searched yet. */
  erased: Type.Record(Type.String(), Type.Integer()),
});

export const DeletionRequest = Type.Object({
  ...jobProperties,
  /** SHA-256 of workspace and user id: all that is kept of them. */
  userHashes: Type.Array(Type.String()),
  sources: Type.Union([Type.Array(Type.String()), Type.Null()]),
  suppress: Type.Boolean(),
  /** Events that were received before this time are erased. */
  erasedBefore: Time,
  receipt: Receipt,
});
export const DeletionRequests = PageOf(DeletionRequest);

/** Later calls of the user are accepted again. Erased events stay erased. */
export const LiftSuppression = Type.Object(
  {
    userId: Type.String({ minLength: 1, maxLength: 1_000 }),
    /** All sources in which the user is suppressed when left out. */
    sources: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 1_000 })),
  },
  { additionalProperties: false },
);
export const LiftedSuppression = Type.Object({
  userHash: Type.String(),
  /** Where it was lifted; null for all sources of the workspace. */
  sources: Type.Union([Type.Array(Type.String()), Type.Null()]),
});

/** Calls of suppressed users that collect dropped, by source and day. The users are not recorded. */
export const SuppressedCalls = Type.Object({
  month: Type.String(),
  items: Type.Array(Type.Object({ day: Type.String(), sourceId: Type.String(), calls: Type.Integer({ minimum: 0 }) })),
});

export type NewDeletion = Static<typeof NewDeletion>;

/** Stored events of a source: a search through them, and what they are made of. */
import { type Static, Type } from 'typebox';
import { CALL_TYPES } from '../call.ts';
import { Time } from './page.ts';

const Count = Type.Integer({ minimum: 0 });
const Wanted = Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 }));

export const StoredEventQuery = Type.Object(
  {
    sourceId: Type.String({ minLength: 1, maxLength: 100 }),
    userId: Wanted,
    /** The name of a track event, page or screen. */
    name: Wanted,
    type: Type.Optional(Type.Enum([...CALL_TYPES])),
    /** Received at or after. */
    from: Type.Optional(Time),
    /** Received before. */
    to: Type.Optional(Time),
    /** Anywhere in the event; upper and lower case are the same. */
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    cursor: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);

export const StoredEventItem = Type.Object({
  storedAt: Time,
  event: Type.Record(Type.String(), Type.Unknown()),
});

/** How far a look at stored events went, from the newest back. */
const looked = {
  /** Stored requests that were read, and the events in them. */
  lookedAt: Type.Object({ requests: Count, events: Count }),
  /** Everything stored between these times was looked at, by this page and those before it. */
  from: Time,
  to: Time,
  /** Whether nothing is left to look at. */
  isComplete: Type.Boolean(),
};

/** A page may be short or empty although more follows: only `nextCursor` says. */
export const StoredEventItems = Type.Object({
  /** Newest first. */
  items: Type.Array(StoredEventItem),
  ...looked,
  nextCursor: Type.Union([Type.String(), Type.Null()]),
});

export const FeedQuery = Type.Object(
  {
    /** Of the page before. Without it the feed begins at `from`, or with the next event that is stored. */
    cursor: Type.Optional(Type.String({ maxLength: 2_000 })),
    /** Stored at or after; not used together with a cursor. */
    from: Type.Optional(Time),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
  },
  { additionalProperties: false },
);

/** A page may be short or empty although more follows: only `isAtEnd` says. */
export const FeedItems = Type.Object({
  /** In the order in which they were stored. */
  items: Type.Array(StoredEventItem),
  /** For the next page, also when this one is empty. */
  cursor: Type.String(),
  /** Whether nothing more was stored at the time of the answer. */
  isAtEnd: Type.Boolean(),
  /** Events after the given cursor may be missing: they were removed before they were read. */
  hasGap: Type.Boolean(),
});

export const SchemaProperty = Type.Object({
  /** Below `properties` or `traits`, with dots between the names of objects in objects. */
  path: Type.String(),
  types: Type.Array(Type.Enum(['string', 'number', 'boolean', 'null', 'object', 'array'])),
  /** How many of the events have it. */
  count: Count,
  /** Up to three different values; a long text is cut. */
  samples: Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
});

export const SourceSchema = Type.Object({
  ...looked,
  items: Type.Array(
    Type.Object({
      type: Type.Enum([...CALL_TYPES]),
      /** The name of a track event, page or screen. */
      name: Type.Union([Type.String(), Type.Null()]),
      /** How many of the events that were looked at; 0 for a blocked name that was not among them. */
      count: Count,
      blocked: Type.Boolean(),
      firstSeenAt: Type.Union([Time, Type.Null()]),
      lastSeenAt: Type.Union([Time, Type.Null()]),
      properties: Type.Array(SchemaProperty),
      /** Whether it has more properties than are shown. */
      hasMore: Type.Boolean(),
    }),
  ),
  /** Names beyond the most that are shown. */
  itemsLeftOut: Count,
});
export type SourceSchema = Static<typeof SourceSchema>;
export type SchemaProperty = Static<typeof SchemaProperty>;

import { type Static, Type } from 'typebox';
import { CALL_TYPES } from '../call.ts';
import { jobProperties } from './jobs.ts';
import { PageOf, Time } from './page.ts';

const Texts = Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { minItems: 1, maxItems: 1_000 });

/** An event is in it when it fits each list that is given. */
const EventFilter = Type.Object(
  {
    types: Type.Optional(Type.Array(Type.Enum([...CALL_TYPES]), { minItems: 1, maxItems: CALL_TYPES.length })),
    /** Names of track events. */
    events: Type.Optional(Texts),
    userIds: Type.Optional(Texts),
  },
  { additionalProperties: false },
);

const range = {
  sourceId: Type.String({ maxLength: 100 }),
  destinationId: Type.String({ maxLength: 100 }),
  /** The range of times at which the events were received; `to` is exclusive. */
  from: Time,
  to: Time,
  filter: Type.Optional(EventFilter),
};

export const ReplayRange = Type.Object(range, { additionalProperties: false });
export const NewReplay = Type.Object(
  { ...range, ratePerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })) },
  { additionalProperties: false },
);
export const ReplayPreview = Type.Object({
  /** How many events would be delivered. */
  count: Type.Integer(),
  /** False when there is too much to count while you wait: it is at least `count` then. The replay itself counts all. */
  isExact: Type.Boolean(),
  /** Events in the range that would not be delivered, by reason. */
  skipped: Type.Record(Type.String(), Type.Integer()),
  /** The first five that would be. */
  first: Type.Array(Type.Record(Type.String(), Type.Unknown())),
});
export const Replay = Type.Object({ ...jobProperties, asked: NewReplay });
export const Replays = PageOf(Replay);

export type EventFilter = Static<typeof EventFilter>;
export type NewReplay = Static<typeof NewReplay>;
export type ReplayRange = Static<typeof ReplayRange>;

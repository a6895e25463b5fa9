/** The home screen of a workspace. */
import { type Static, Type } from 'typebox';
import { Time } from './page.ts';
import { Counts } from './record.ts';

const Count = Type.Integer({ minimum: 0 });

export const AttentionKind = Type.Enum([
  'destination_failing',
  'destination_asked_to_wait',
  'destination_paused',
  'destination_disabled',
  'destination_backlog',
  'dead_letters',
  'source_refusals',
  'source_quiet',
]);

/** Something that a person should look at, as a sentence with what to do. */
export const Attention = Type.Object({
  kind: AttentionKind,
  severity: Type.Enum(['critical', 'warning']),
  sentence: Type.String(),
  nextStep: Type.String(),
  destinationId: Type.Optional(Type.String()),
  sourceId: Type.Optional(Type.String()),
  since: Type.Optional(Time),
});
export type Attention = Static<typeof Attention>;

export const OverviewQuery = Type.Object(
  {
    /** In seconds: ten minutes to an hour, in steps of ten minutes. */
    step: Type.Optional(Type.Integer({ minimum: 600, maximum: 3_600, multipleOf: 600, default: 3_600 })),
  },
  { additionalProperties: false },
);

export const Overview = Type.Object({
  at: Time,
  tiles: Type.Object({
    /** Accepted calls a minute: of the last five to ten minutes, and at the same time a day ago. `now` is null while control has calls to count. */
    callsPerMinute: Type.Object({ now: Type.Union([Type.Number(), Type.Null()]), dayAgo: Type.Number() }),
    /** Of what ended in the last 24 hours, without what was skipped; the share is null when nothing ended. */
    delivered: Type.Object({
      share: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
      delivered: Count,
      givenUp: Count,
    }),
    /** Destinations that only get probes now, or that asked us to wait. */
    failing: Count,
    /** Deliveries in lanes, as far as we know. */
    waiting: Count,
    oldestWaiting: Type.Union([
      Type.Object({ deliveryId: Type.String(), destinationId: Type.String(), receivedAt: Time }),
      Type.Null(),
    ]),
    /** Null when NATS did not say, or the token may not read them. */
    deadLetters: Type.Union([Count, Type.Null()]),
  }),
  series: Type.Object({
    from: Time,
    to: Time,
    step: Type.Integer(),
    /** Steps in which something happened, by their beginning. */
    points: Type.Array(Type.Object({ at: Time, ...Counts.properties })),
  }),
  /** Most urgent first. */
  attention: Type.Array(Attention),
  /** How many more there are of the kinds above. */
  attentionLeftOut: Count,
});
export type Overview = Static<typeof Overview>;

/** The record of deliveries, as the API answers it. */
import { type Static, Type } from 'typebox';
import { PageOf, PageQuery, Time } from './page.ts';

const Text = Type.Union([Type.String(), Type.Null()]);
const TimeOrNull = Type.Union([Time, Type.Null()]);
const Count = Type.Integer({ minimum: 0 });
const IdText = Type.String({ maxLength: 100 });
const Wanted = Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 }));

export const DeliveryStateName = Type.Enum(['pending', 'retrying', 'delivered', 'discarded', 'expired', 'skipped']);

export const Delivery = Type.Object({
  /** The receiver's `webhook-id`. */
  id: Type.String(),
  sourceId: Type.String(),
  destinationId: Type.String(),
  messageId: Type.String(),
  type: Type.String(),
  /** The name of a track event, page or screen. */
  name: Text,
  userId: Text,
  anonymousId: Text,
  receivedAt: Time,
  state: DeliveryStateName,
  /** Why it was skipped, or given up without an attempt. */
  reason: Text,
  /** Which rule of the destination's filters stopped it, in words; for the reason `filtered`. */
  rule: Text,
  attempts: Count,
  firstAttemptAt: TimeOrNull,
  lastAttemptAt: TimeOrNull,
  lastStatus: Type.Union([Type.Integer(), Type.Null()]),
  /** The class of the last error, or `http_` and the status. */
  errorClass: Text,
  /** The receiver's last answer, as a sentence. */
  sentence: Text,
  /** When it is tried again, while it is `retrying`. */
  nextAt: TimeOrNull,
  /** The latest replay, redrive or retry of a dead letter that it was part of. */
  replayId: Text,
  /** Its user was erased: the user's ids and the receivers' answers are no longer kept. */
  isErased: Type.Boolean(),
});
export const Deliveries = Type.Object({
  ...PageOf(Delivery).properties,
  /** From 0 to 1: how many of the deliveries that succeeded at once are listed; the others are in the counters. */
  successRowsKept: Type.Number(),
});

export const DeliveryQuery = Type.Object(
  {
    ...PageQuery.properties,
    destinationId: Type.Optional(IdText),
    sourceId: Type.Optional(IdText),
    state: Type.Optional(DeliveryStateName),
    errorClass: Wanted,
    /** Received at or after. */
    from: Type.Optional(Time),
    /** Received before. */
    to: Type.Optional(Time),
    userId: Wanted,
    /** The name of a track event, page or screen. */
    event: Wanted,
    messageId: Wanted,
  },
  { additionalProperties: false },
);

const Timings = Type.Object({
  dnsMs: Type.Optional(Type.Number()),
  connectMs: Type.Optional(Type.Number()),
  tlsMs: Type.Optional(Type.Number()),
  firstByteMs: Type.Optional(Type.Number()),
  totalMs: Type.Number(),
});

export const DeliveryAttempt = Type.Object({
  attempt: Count,
  at: Time,
  outcome: Type.String(),
  totalMs: Type.Number(),
  nextAt: TimeOrNull,
  /** The replay, redrive or retry of a dead letter that it was made for. */
  replayId: Text,
  /** One for each URL that was tried. */
  answers: Type.Array(
    Type.Object({
      url: Type.String(),
      status: Type.Optional(Type.Integer()),
      errorClass: Type.Optional(Type.String()),
      message: Type.Optional(Type.String()),
      /** The address that was connected to. */
      address: Type.Optional(Type.String()),
      timings: Timings,
      /** How many events the request had, when it was a batch of several. */
      events: Type.Optional(Count),
      /** The first 16 KiB. Not kept of the answer to several events: it may name the user of another one. */
      body: Type.Optional(Type.String()),
    }),
  ),
});

export const DeliveryDetails = Type.Object({ ...Delivery.properties, history: Type.Array(DeliveryAttempt) });

export const Lane = Type.Object({
  state: Type.Enum(['failing', 'asked_to_wait', 'paused', 'waiting', 'draining']),
  since: Time,
  why: Text,
  /** The next probe, or the next delivery that is due. */
  nextAt: TimeOrNull,
  /** How many deliveries wait, as far as we know. */
  depth: Count,
  /** Their size, as far as we know. */
  bytes: Count,
  /** The most that the lane may hold now; it shrinks as other lanes fill. Null when it is not known. */
  limitBytes: Type.Union([Count, Type.Null()]),
  /** The part of that which is free, from 0 to 1. At 0 further deliveries become dead letters. */
  room: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
  deliveriesPerSecond: Type.Union([Type.Number(), Type.Null()]),
  clearInMs: Type.Union([Type.Number(), Type.Null()]),
  updatedAt: Time,
});
const LaneOrNull = Type.Union([Lane, Type.Null()]);

/** A replay, or a retry of dead letters, that sent events again. */
const ReplayPart = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['replay', 'redrive']),
  startedAt: Time,
  /** Null when it is no longer known. */
  startedBy: Type.Union([Type.Object({ kind: Type.String(), id: Type.String() }), Type.Null()]),
});

/** How the event was stored, while it is. */
export const StoredFacts = Type.Object({
  /** By the clock of NATS. */
  storedAt: Time,
  /** From `receivedAt`, by the clock of collect; below 0 when the two clocks differ by more than it took. */
  storeMs: Type.Integer(),
  /** The request that it came in: its place among the accepted events, from 1; how many there are; the bytes of all as stored. */
  request: Type.Object({ place: Count, events: Count, bytes: Count }),
});

export const Explanation = Type.Object({
  messageId: Type.String(),
  /** `unknown`: the event has no record; the story lists the possible reasons. */
  verdict: Type.Enum(['accepted', 'refused', 'unknown']),
  /** For people, in the order to read them. */
  story: Type.Array(Type.String()),
  /** Null when it is no longer stored, its user was erased, or it was not found in time. */
  stored: Type.Union([StoredFacts, Type.Null()]),
  refusals: Type.Array(
    Type.Object({ sourceId: Type.String(), code: Type.String(), message: Type.String(), at: Time, call: Text }),
  ),
  /** Deliveries that succeeded at once and have no row, because the installation keeps a sample of those. */
  withoutRow: Type.Array(
    Type.Object({ deliveryId: Type.String(), destinationId: Type.String(), destinationName: Text, deliveredAt: Time }),
  ),
  destinations: Type.Array(
    Type.Object({
      ...DeliveryDetails.properties,
      /** Null when it has been deleted. */
      destinationName: Text,
      story: Type.Array(Type.String()),
      /** The replays that it was part of, oldest first. */
      replays: Type.Array(ReplayPart),
      /** Where it waits, if it does. */
      lane: LaneOrNull,
    }),
  ),
});

export const Counts = Type.Object({
  delivered: Count,
  /** Attempts that failed and are tried again. */
  retry: Count,
  discarded: Count,
  expired: Count,
  skipped: Count,
});

export const DestinationHealth = Type.Object({
  destinationId: Type.String(),
  sentence: Type.String(),
  lastHour: Counts,
  lastDay: Counts,
  /** Of the latest attempts, at most a thousand of the last day. */
  latencyMs: Type.Object({
    attempts: Count,
    p50: Type.Union([Type.Number(), Type.Null()]),
    p95: Type.Union([Type.Number(), Type.Null()]),
    p99: Type.Union([Type.Number(), Type.Null()]),
  }),
  /** Of the last day, most frequent first. */
  errorClasses: Type.Array(Type.Object({ errorClass: Type.String(), count: Count })),
  /** Null when nothing waits. */
  lane: LaneOrNull,
});

export const DeliveryMetricsQuery = Type.Object(
  {
    destinationId: Type.Optional(IdText),
    /** A day ago unless given. */
    from: Type.Optional(Time),
    to: Type.Optional(Time),
    /** In seconds. */
    step: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400, default: 3_600 })),
  },
  { additionalProperties: false },
);
export const DeliveryMetrics = Type.Object({
  from: Time,
  to: Time,
  step: Type.Integer(),
  /** Steps in which something happened, by their beginning. */
  series: Type.Array(Type.Object({ at: Time, ...Counts.properties })),
});

export const UsageQuery = Type.Object(
  { month: Type.Optional(Type.String({ pattern: '^(?!0000)\\d{4}-(0[1-9]|1[0-2])$' })) },
  { additionalProperties: false },
);
/** Accepted calls, before any filter. */
export const Usage = Type.Object({
  month: Type.String(),
  calls: Count,
  sources: Type.Array(
    Type.Object({
      sourceId: Type.String(),
      name: Text,
      calls: Count,
      /** How many of them collect dropped because their user is suppressed. */
      suppressed: Count,
    }),
  ),
});

/** The last seven days. Collect reports refusals at most once, so some may be missing. */
export const Refusals = Type.Object({
  items: Type.Array(
    Type.Object({
      day: Type.String(),
      code: Type.String(),
      count: Count,
      lastAt: Time,
      samples: Type.Array(
        Type.Object({
          at: Time,
          message: Type.String(),
          messageId: Type.Optional(Type.String()),
          /** The beginning of the call, as JSON. */
          call: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
});

export type Delivery = Static<typeof Delivery>;
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;
export type DeliveryDetails = Static<typeof DeliveryDetails>;
export type DestinationHealth = Static<typeof DestinationHealth>;
export type Explanation = Static<typeof Explanation>;
export type Refusals = Static<typeof Refusals>;
export type StoredFacts = Static<typeof StoredFacts>;
export type Lane = Static<typeof Lane>;
export type ReplayPart = Static<typeof ReplayPart>;

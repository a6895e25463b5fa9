/** Trying a destination before events go to it: its URL, one call to it, and what its filters let through. */
import { type Static, Type } from 'typebox';
import { CALL_TYPES } from '../call.ts';
import { BODY_FORMATS } from '../webhook-body.ts';
import { Filters } from './destinations.ts';
import { Time } from './page.ts';

export const CheckUrl = Type.Object(
  { url: Type.String({ minLength: 1, maxLength: 2_000 }) },
  { additionalProperties: false },
);
const Certificate = Type.Object({
  subject: Type.String(),
  issuer: Type.String(),
  /** The names that it is for, as it has them; cut when there are many. */
  names: Type.String(),
  validFrom: Time,
  validTo: Time,
  /** Below 0 when it has ended. */
  daysLeft: Type.Integer(),
});
const UrlStep = Type.Object({
  step: Type.Enum(['url', 'dns', 'policy', 'connect', 'tls']),
  ok: Type.Boolean(),
  detail: Type.String(),
  ms: Type.Optional(Type.Number()),
  /** Public ones only: addresses inside the operator's network are counted in `detail` and not shown. */
  addresses: Type.Optional(Type.Array(Type.String())),
  tlsVersion: Type.Optional(Type.String()),
  /** Also of one that was refused. */
  certificate: Type.Optional(Certificate),
});
export const UrlCheck = Type.Object({
  ok: Type.Boolean(),
  /** In this order, up to the first that is not ok. */
  steps: Type.Array(UrlStep),
  sentence: Type.String(),
});

export const TestDestination = Type.Object(
  {
    /** Which of its targets, counted from 0. */
    targetIndex: Type.Optional(Type.Integer({ minimum: 0, maximum: 4, default: 0 })),
    /** Of the sample that is sent; not with `event`. */
    type: Type.Optional(Type.Enum([...CALL_TYPES, 'delete'])),
    /** A call as a client would send it, in place of the sample. */
    event: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
const SentHeader = Type.Object({
  name: Type.String(),
  /** Null for the headers of the destination: their values are secrets. */
  value: Type.Union([Type.String(), Type.Null()]),
});
const Timings = Type.Object({
  dnsMs: Type.Optional(Type.Number()),
  connectMs: Type.Optional(Type.Number()),
  tlsMs: Type.Optional(Type.Number()),
  firstByteMs: Type.Optional(Type.Number()),
  totalMs: Type.Number(),
});
export const TestedDestination = Type.Object({
  /** The `webhook-id` of the request: `test_` and a random part. */
  id: Type.String(),
  at: Time,
  targetIndex: Type.Integer(),
  request: Type.Object({
    method: Type.Literal('POST'),
    url: Type.String(),
    headers: Type.Array(SentHeader),
    body: Type.String(),
    /** The body was longer than what is shown of it. */
    isCut: Type.Boolean(),
  }),
  answer: Type.Object({
    status: Type.Union([Type.Integer(), Type.Null()]),
    /** The first 16 KiB, as text. */
    body: Type.Union([Type.String(), Type.Null()]),
    retryAfter: Type.Union([Type.String(), Type.Null()]),
    errorClass: Type.Union([Type.String(), Type.Null()]),
    /** The answer in words. */
    sentence: Type.String(),
    /** Null when nothing was connected to, and for an address inside the operator's network. */
    address: Type.Union([Type.String(), Type.Null()]),
    timings: Timings,
  }),
  /** The outcome that deliver would have given this answer, for a first attempt with this target alone. */
  outcome: Type.Object({ kind: Type.Enum(['delivered', 'retry', 'discarded', 'expired']), sentence: Type.String() }),
});

export const PreviewDestination = Type.Object(
  {
    sourceId: Type.String({ maxLength: 100 }),
    catalog: Type.Optional(Type.String({ maxLength: 200, default: 'Webhooks' })),
    filters: Type.Optional(Filters),
    /** As for a new destination; only `bodyFormat` has a say, and the others may be left out. */
    settings: Type.Optional(
      Type.Object({ bodyFormat: Type.Optional(Type.Enum([...BODY_FORMATS])) }, { additionalProperties: true }),
    ),
    last: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  },
  { additionalProperties: false },
);
const PreviewedEvent = Type.Object({
  messageId: Type.String(),
  type: Type.String(),
  /** Of a track event, page or screen. */
  name: Type.Union([Type.String(), Type.Null()]),
  userId: Type.Union([Type.String(), Type.Null()]),
  receivedAt: Time,
  /** The exact body of the request; for a skipped event, the body that it would have had. */
  body: Type.String(),
});
const Skipped = {
  reason: Type.String(),
  /** The first rule that the event breaks, for the reason `filtered`. */
  rule: Type.Union([Type.String(), Type.Null()]),
  sentence: Type.String(),
};
export const DestinationPreview = Type.Object({
  looked: Type.Object({
    events: Type.Integer(),
    /** When the oldest and the newest of them were received. */
    from: Type.Union([Time, Type.Null()]),
    to: Type.Union([Time, Type.Null()]),
    /** The reason why the preview stopped: all stored events were seen, `last` of them, the time for a preview, or their size. */
    endedBy: Type.Enum(['all', 'last', 'time', 'size']),
    sentence: Type.String(),
  }),
  /** `first`: up to 20, newest first. */
  delivered: Type.Object({ count: Type.Integer(), first: Type.Array(PreviewedEvent) }),
  skipped: Type.Object({
    count: Type.Integer(),
    by: Type.Array(Type.Object({ ...Skipped, count: Type.Integer() })),
    /** Without those of erased and suppressed users, of whom nothing is shown. */
    first: Type.Array(Type.Object({ ...PreviewedEvent.properties, ...Skipped })),
  }),
});

export type UrlStep = Static<typeof UrlStep>;
export type UrlCheck = Static<typeof UrlCheck>;
export type TestDestination = Static<typeof TestDestination>;
export type TestedDestination = Static<typeof TestedDestination>;
export type DestinationPreview = Static<typeof DestinationPreview>;

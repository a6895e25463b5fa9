/** The check-up of a receiver: real requests, some of them wrong on purpose, and a graded report. */
import { type Static, type TSchema, Type } from 'typebox';
import { Time } from './page.ts';

export const StartCheckUp = Type.Object(
  {
    /** Which of its targets, counted from 0. */
    targetIndex: Type.Optional(Type.Integer({ minimum: 0, maximum: 4, default: 0 })),
  },
  { additionalProperties: false },
);

/** In the order in which they run. */
export const CHECK_UP_STEPS = [
  'right_signature',
  'wrong_signature',
  'old_timestamp',
  'repeated_id',
  'large_body',
  'answer_time',
] as const;

/** From good to bad: the grade of a report is its worst step's. `unknown`: nothing can be concluded. */
export const GRADES = ['good', 'unknown', 'warning', 'danger'] as const;
const Grade = Type.Enum([...GRADES]);
const OrNull = <Known extends TSchema>(known: Known) => Type.Union([known, Type.Null()]);

const CheckUpStep = Type.Object({
  name: Type.Enum([...CHECK_UP_STEPS]),
  /** Null while the step waits. */
  grade: OrNull(Grade),
  /** The request, in words. */
  sent: Type.String(),
  /** Of the request, for a look into the receiver's log; null when nothing was sent, or the step waits. */
  webhookId: OrNull(Type.String()),
  /** Null as `webhookId` is. */
  answer: OrNull(
    Type.Object({
      /** Null when there was none in time: then `errorClass` has the reason. */
      status: OrNull(Type.Integer()),
      errorClass: OrNull(Type.String()),
      ms: Type.Number(),
    }),
  ),
  /** The conclusion. */
  sentence: OrNull(Type.String()),
  /** The change to make; null where there is none. */
  remedy: OrNull(Type.String()),
  /** The page and section of the documentation, as a path in the repository. */
  docs: OrNull(Type.String()),
});

export const CheckUp = Type.Object({
  id: Type.String(),
  destinationId: Type.String(),
  targetIndex: Type.Integer(),
  /** `failed`: Millrace could not finish it, which says nothing about the receiver. */
  state: Type.Enum(['running', 'done', 'failed']),
  /** The worst grade of the steps; null unless it is done. */
  grade: OrNull(Grade),
  /** The report in one sentence, or the reason of a failure; null while it runs. */
  sentence: OrNull(Type.String()),
  steps: Type.Array(CheckUpStep),
  /** Seen in passing, without a grade; null unless it is done. */
  facts: OrNull(
    Type.Object({
      fastestMs: OrNull(Type.Number()),
      slowestMs: OrNull(Type.Number()),
      /** Whether the receiver keeps connections open for the next request; null when that did not show. */
      keepsConnections: OrNull(Type.Boolean()),
      tlsVersion: OrNull(Type.String()),
      certificateEndsAt: OrNull(Time),
      /** About the connection, in words; null when nothing is known of it. */
      sentence: OrNull(Type.String()),
    }),
  ),
  startedAt: Time,
  endedAt: OrNull(Time),
});

export type Grade = Static<typeof Grade>;
export type CheckUpStep = Static<typeof CheckUpStep>;
export type CheckUp = Static<typeof CheckUp>;

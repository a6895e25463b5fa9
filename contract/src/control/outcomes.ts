/** Outcomes as they happen: the lines of `GET /api/v1/outcomes/stream`. */
import { type Static, Type } from 'typebox';
import { Id, Time } from './page.ts';

export const OutcomeStreamQuery = Type.Object(
  {
    /** Of the last line that was worked on; without it the stream begins with the next outcome. */
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  { additionalProperties: false },
);

const Count = Type.Integer({ minimum: 0 });

const About = {
  /** When it happened. */
  at: Time,
  /** The receiver's `webhook-id`. */
  deliveryId: Type.String(),
  messageId: Type.String(),
  type: Type.String(),
  /** The name of a track event, page or screen. */
  name: Type.Optional(Type.String()),
  sourceId: Id('src'),
  destinationId: Id('dst'),
  receivedAt: Time,
  /** The replay, redrive or retry of a dead letter that it was made for. */
  replayId: Type.Optional(Type.String()),
  /** To go on after this line. */
  cursor: Type.String(),
};
/** The dead letter of a delivery that was given up found no room. */
const Letter = Type.Optional(Type.Literal('refused'));

/** One line of the stream. */
export const OutcomeLine = Type.Union([
  Type.Object({ kind: Type.Literal('open'), cursor: Type.String() }),
  Type.Object({
    kind: Type.Literal('attempt'),
    ...About,
    attempt: Count,
    outcome: Type.Enum(['delivered', 'retry', 'discarded', 'expired']),
    nextAt: Type.Optional(Time),
    /** One for each URL that was tried. */
    answers: Type.Array(
      Type.Object({
        status: Type.Optional(Type.Integer()),
        errorClass: Type.Optional(Type.String()),
        totalMs: Type.Number(),
      }),
    ),
    letter: Letter,
  }),
  /** It waits in its lane, and no attempt was made. */
  Type.Object({ kind: Type.Literal('waiting'), ...About, attempts: Count }),
  Type.Object({ kind: Type.Literal('given_up'), ...About, attempts: Count, reason: Type.String(), letter: Letter }),
  Type.Object({
    kind: Type.Literal('skipped'),
    ...About,
    reason: Type.String(),
    /** Which rule of the destination's filters stopped it, in words. */
    rule: Type.Optional(Type.String()),
  }),
  /** Nothing happened for a while. */
  Type.Object({ kind: Type.Literal('heartbeat') }),
  /** The last line; `code` is that of a problem, or `shutting_down`. */
  Type.Object({ kind: Type.Literal('end'), code: Type.String() }),
]);

export type OutcomeStreamQuery = Static<typeof OutcomeStreamQuery>;
export type OutcomeLine = Static<typeof OutcomeLine>;

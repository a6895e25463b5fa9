/** How a destination did over time, and which errors its targets answered with. */
import { type Static, Type } from 'typebox';
import { Time } from './page.ts';

const Count = Type.Integer({ minimum: 0 });

export const DestinationMetricsQuery = Type.Object(
  {
    /** A day ago unless given. */
    from: Type.Optional(Time),
    to: Type.Optional(Time),
    /** In seconds. */
    step: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400, default: 3_600 })),
  },
  { additionalProperties: false },
);

export const DestinationMetrics = Type.Object({
  from: Time,
  to: Time,
  step: Type.Integer(),
  /** Steps with recorded attempts, by their beginning: of the last hundred attempts of each, at most. */
  latency: Type.Array(
    Type.Object({ at: Time, attempts: Count, p50: Type.Number(), p95: Type.Number(), p99: Type.Number() }),
  ),
  /** Steps in which deliveries waited: how many at most. Noted every minute, and kept for eight days by ten minutes. */
  depth: Type.Array(Type.Object({ at: Time, deliveries: Count })),
});
export type DestinationMetrics = Static<typeof DestinationMetrics>;

export const TargetErrors = Type.Object({
  /** Attempts that were looked at: the latest thousand of the last 24 hours, at most. */
  attempts: Count,
  from: Time,
  to: Time,
  /** Whether there were no more in these 24 hours. */
  isComplete: Type.Boolean(),
  /** Failing ones first. */
  targets: Type.Array(
    Type.Object({
      url: Type.String(),
      posts: Count,
      failed: Count,
      lastAt: Time,
      /** Whether the last answer was an error: also of a target that another one makes up for. */
      isFailing: Type.Boolean(),
      /** Most frequent first. */
      errors: Type.Array(
        Type.Object({
          errorClass: Type.String(),
          count: Count,
          firstAt: Time,
          lastAt: Time,
          /** The last such answer of the target, in words. */
          sentence: Type.String(),
          /** The delivery that it last happened to. */
          sampleDeliveryId: Type.String(),
        }),
      ),
    }),
  ),
});
export type TargetErrors = Static<typeof TargetErrors>;

import { type Static, Type } from 'typebox';

export const AttemptNow = Type.Object({
  destinationId: Type.String(),
  effect: Type.Union([Type.Literal('hurried'), Type.Literal('under_way')], {
    description:
      'hurried: deliver looks at the lane now and attempts before the time; under_way: deliver is at work on the lane already, and nothing was changed',
  }),
  isProbe: Type.Boolean({
    description: 'The circuit breaker is open: deliver makes one attempt, and goes on only if the receiver takes it',
  }),
  sentence: Type.String(),
});
export type AttemptNow = Static<typeof AttemptNow>;

export const RetryNow = Type.Object({
  ...AttemptNow.properties,
  deliveryId: Type.String(),
  ahead: Type.Integer({
    description: 'Deliveries of the destination that are due before this one: deliver attempts them first',
  }),
  isAheadExact: Type.Boolean({ description: 'False when more deliveries wait than were counted' }),
});
export type RetryNow = Static<typeof RetryNow>;

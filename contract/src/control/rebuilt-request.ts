import { type Static, Type } from 'typebox';
import { TestedDestination } from './asks.ts';
import { Time } from './page.ts';

export const RebuiltRequestQuery = Type.Object(
  {
    targetIndex: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4, default: 0, description: 'Which of the present targets, counted from 0' }),
    ),
    attempt: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'The latest recorded attempt unless you say' }),
    ),
  },
  { additionalProperties: false },
);

export const RebuiltRequest = Type.Object({
  deliveryId: Type.String(),
  attempt: Type.Integer(),
  at: Time,
  targetIndex: Type.Integer(),
  isRebuilt: Type.Literal(true, {
    description: 'Sent requests are not kept: it is made anew from the stored event and the present settings',
  }),
  wasPosted: Type.Boolean({
    description:
      'Whether this attempt had a POST to the URL that the target has now; a target that is settled gets no more',
  }),
  mayDiffer: Type.Array(Type.String(), {
    description:
      'Parts that may be different from those that were sent; empty if the destination has not changed since',
  }),
  request: TestedDestination.properties.request,
  sentence: Type.String(),
});
export type RebuiltRequest = Static<typeof RebuiltRequest>;

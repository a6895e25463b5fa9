import { Type } from 'typebox';

export const RemovalsWaiting = Type.Object({
  /** All together; 0 when nothing waits. */
  entries: Type.Integer(),
  sources: Type.Integer(),
  destinations: Type.Integer(),
  /** Erased and suppressed users. */
  users: Type.Integer(),
});

export const ConfirmRemovals = Type.Object(
  {
    /** How many entries wait, as `GET` answered: another number is refused. */
    entries: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
);

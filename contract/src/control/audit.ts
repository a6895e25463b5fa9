/** The audit log beside its entries: its last check, and the URL that its entries are sent to. */
import { type Static, Type } from 'typebox';
import { Time } from './page.ts';

const Count = Type.Integer({ minimum: 0 });
const TimeOrNull = Type.Union([Time, Type.Null()]);

export const AuditCheck = Type.Object({
  /** `unchecked`: a new log; every log is checked each hour. */
  state: Type.Enum(['holds', 'broken', 'unchecked']),
  checkedAt: TimeOrNull,
  /** How many entries the check found sound. */
  entries: Count,
  /** The first entry that does not fit, and why. */
  brokenSequence: Type.Union([Type.Integer(), Type.Null()]),
  why: Type.Union([Type.String(), Type.Null()]),
});

export const NewAuditStream = Type.Object(
  {
    url: Type.String({ maxLength: 2_000 }),
    /** `start` sends the whole log, `now` entries from now on. */
    from: Type.Optional(Type.Enum(['start', 'now'], { default: 'now' })),
  },
  { additionalProperties: false },
);
export const AuditStream = Type.Object({
  url: Type.String(),
  /** The last entry that the receiver has taken. */
  position: Count,
  /** Entries that wait to be sent. */
  waiting: Count,
  /** Attempts in a row that failed, with the code of the last failure and the time of the next attempt. */
  failures: Count,
  lastError: Type.Union([Type.String(), Type.Null()]),
  nextAt: TimeOrNull,
  deliveredAt: TimeOrNull,
  createdAt: Time,
});
/** The only answer that ever holds the secret, with which the receiver checks `webhook-signature`. */
export const CreatedAuditStream = Type.Object({ ...AuditStream.properties, secret: Type.String() });

export type AuditCheck = Static<typeof AuditCheck>;
export type AuditStream = Static<typeof AuditStream>;

import { type Static, Type } from 'typebox';
import { Id, PageOf, PageQuery, Time } from './page.ts';

export const QuarantineKind = Type.Enum(['request', 'lane', 'ticket', 'outcome', 'letter', 'config', 'health']);

export const QuarantineItem = Type.Object({
  id: Id('q'),
  kind: QuarantineKind,
  /** The stream it was in. */
  stream: Type.String(),
  subject: Type.String(),
  sequence: Type.Integer(),
  /** Why it could not be read or written. */
  reason: Type.String(),
  bytes: Type.Integer(),
  quarantinedAt: Time,
});
export type QuarantineItem = Static<typeof QuarantineItem>;
export const QuarantineItems = PageOf(QuarantineItem);

export const QuarantineDetails = Type.Object({
  ...QuarantineItem.properties,
  /** The message's headers without those that only NATS reads; none where `payloadBase64` is null. */
  headers: Type.Record(Type.String(), Type.String()),
  /** Null unless it belongs to the workspace that you are in, and you see payloads there. */
  payloadBase64: Type.Union([Type.String(), Type.Null()]),
});

export const QuarantineQuery = Type.Object(
  { ...PageQuery.properties, kind: Type.Optional(QuarantineKind) },
  { additionalProperties: false },
);

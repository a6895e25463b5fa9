/** One profile: its ids, what is known of it, and why it is in an audience. */
import { type Static, type TSchema, Type } from 'typebox';
import type { Leaf as LeafOf } from '../audiences/definition.ts';
import { ComputedValue, ValueChange } from './definitions.ts';
import { Time } from './page.ts';
import { DeliveryStateName } from './record.ts';

const OrNull = <Known extends TSchema>(known: Known) => Type.Union([known, Type.Null()]);
const Kind = Type.Enum(['user', 'anonymous']);

export const ProfileQuery = Type.Object(
  {
    /** Whether the id is a userId or an anonymousId. */
    kind: Type.Optional(Type.Enum(['user', 'anonymous'], { default: 'user' })),
  },
  { additionalProperties: false },
);

const Membership = Type.Object({
  definitionId: Type.String(),
  kind: Type.Enum(['audience', 'trait']),
  key: Type.String(),
  name: Type.String(),
  /** True for an audience, whose other profiles are not listed; of a trait, its value. */
  value: ComputedValue,
  sequence: Type.Integer(),
  since: Time,
  /** When the value may change without another event, at the earliest; null: not by itself. */
  endsAt: OrNull(Time),
});

export const Profile = Type.Object({
  kind: Kind,
  /** The id that the profile is kept under: not the one of the request, if that is linked to it. */
  id: Type.String(),
  /** Every other id that stands for it. */
  links: Type.Array(Type.Object({ kind: Kind, id: Type.String() })),
  /** As far as they are kept: objects up to three levels, texts up to 256 characters. */
  traits: Type.Record(Type.String(), Type.Unknown()),
  /** Newest first. */
  groups: Type.Array(Type.Object({ groupId: Type.String(), at: Time })),
  /** Of tracks, pages, screens and identifies. */
  firstSeenAt: OrNull(Time),
  lastSeenAt: OrNull(Time),
  memberships: Type.Array(Membership),
});

const LeafExplanation = Type.Object({
  /** Its place in the definition, such as `/when/all/1/not`. */
  path: Type.String(),
  leaf: Type.Unsafe<LeafOf>({ type: 'object', description: 'A leaf of the condition' }),
  /** The count, sum, trait and so on; null for none. */
  value: Type.Unknown(),
  /** In words: `at least 500`. */
  threshold: Type.String(),
  holds: Type.Boolean(),
  /** When that changes without another event; null: not by itself. */
  changesAt: OrNull(Time),
  /** The newest events that it counts and that are still stored, newest first: three at most. */
  messageIds: Type.Array(Type.String()),
});

export const MembershipExplanation = Type.Object({
  definitionId: Type.String(),
  kind: Type.Enum(['audience', 'trait']),
  key: Type.String(),
  value: ComputedValue,
  /** 0: it never changed. */
  sequence: Type.Integer(),
  /** When the value may change without another event, at the earliest; null: not by itself. */
  changesAt: OrNull(Time),
  /** The list had more values than are kept. */
  isCapped: Type.Boolean(),
  /** Of audiences, every leaf; of traits, the one selection of events, with its value. */
  leaves: Type.Array(LeafExplanation),
  /** How far back stored events were looked through for `messageIds`. */
  eventsFrom: OrNull(Time),
  /** Newest first: ten at most. */
  history: Type.Array(ValueChange),
  /** The identify calls that told of these changes, newest first. One call may tell several: it has the sequence of the last. */
  identifies: Type.Array(
    Type.Object({
      messageId: Type.String(),
      sequence: Type.Integer(),
      value: ComputedValue,
      /** It waits in the outbox. */
      isWaiting: Type.Boolean(),
      /** As far as the record of deliveries holds them. */
      deliveries: Type.Array(
        Type.Object({
          deliveryId: Type.String(),
          destinationId: Type.String(),
          state: DeliveryStateName,
          changedAt: Time,
        }),
      ),
    }),
  ),
});

export type Profile = Static<typeof Profile>;
export type MembershipExplanation = Static<typeof MembershipExplanation>;

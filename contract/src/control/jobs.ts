import { type Static, Type } from 'typebox';
import { PageOf, PageQuery, Time } from './page.ts';

/** The states of a job: long work that survives restarts. */
export const JobState = Type.Enum(['running', 'paused', 'cancelled', 'done', 'failed']);

const Progress = Type.Object({
  /** Deliveries made so far. */
  done: Type.Integer(),
  /** Items to do; null until they are counted. */
  total: Type.Union([Type.Integer(), Type.Null()]),
  /** Items of the request that must not be delivered, by reason. */
  skipped: Type.Record(Type.String(), Type.Integer()),
});

export const jobProperties = {
  id: Type.String(),
  state: JobState,
  progress: Progress,
  /** Why it waits or has failed, in words. */
  problem: Type.Union([Type.String(), Type.Null()]),
  createdAt: Time,
  updatedAt: Time,
  endedAt: Type.Union([Time, Type.Null()]),
};

const RatePerSecond = Type.Integer({ minimum: 1, maximum: 100_000 });

export const DeadReasonSchema = Type.Enum(['discarded', 'expired', 'lane_full']);

export const DeadLetterFilter = {
  destinationId: Type.Optional(Type.String({ maxLength: 100 })),
  reason: Type.Optional(DeadReasonSchema),
  /** The range of times at which letters were given up; `to` is exclusive. */
  from: Type.Optional(Time),
  to: Type.Optional(Time),
};

export const DeadLetterQuery = Type.Object(
  { ...PageQuery.properties, ...DeadLetterFilter },
  { additionalProperties: false },
);

export const DeadLetterItem = Type.Object({
  id: Type.String(),
  destinationId: Type.String(),
  /** The `webhook-id` that receivers saw, and will see again. */
  deliveryId: Type.String(),
  reason: DeadReasonSchema,
  deadAt: Time,
  messageId: Type.String(),
  type: Type.String(),
  attempts: Type.Integer(),
});
export const DeadLetterItems = PageOf(DeadLetterItem);

const AnswerNote = Type.Object({
  url: Type.String(),
  status: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String()),
  ms: Type.Integer(),
});

export const DeadLetterDetails = Type.Object({
  ...DeadLetterItem.properties,
  event: Type.Record(Type.String(), Type.Unknown()),
  /** The latest attempts, oldest first. */
  /** `events`: how many the request had, when it was a batch of several. */
  history: Type.Array(
    Type.Object({ at: Time, answers: Type.Array(AnswerNote), events: Type.Optional(Type.Integer()) }),
  ),
});

export const RetriedLetter = Type.Object({
  deliveryId: Type.String(),
  destinationId: Type.String(),
  /** Attempts that are made for it have this id in the record. */
  replayId: Type.String(),
});

export const NewRedrive = Type.Object(
  { ...DeadLetterFilter, ratePerSecond: Type.Optional(RatePerSecond) },
  { additionalProperties: false },
);
export const Redrive = Type.Object({ ...jobProperties, asked: NewRedrive });
export const Redrives = PageOf(Redrive);

export type DeadLetterItem = Static<typeof DeadLetterItem>;
export type NewRedrive = Static<typeof NewRedrive>;

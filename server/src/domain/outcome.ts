import type { GiveUpReason } from '@millrace/contract/help';

/** An event in the life of a delivery, on its way to the record in PostgreSQL. Deliver writes it, the recorder reads it. */
export type OutcomeEntry = {
  workspaceId: string;
  sourceId: string;
  destinationId: string;
  /** Stable over all attempts; the receiver's `webhook-id`. */
  deliveryId: string;
  messageId: string;
  type: string;
  /** The name of a track event, page or screen. */
  name?: string | undefined;
  userId?: string | undefined;
  anonymousId?: string | undefined;
  receivedAt: string;
  /** Which replay, or which retry of a dead letter, made this delivery. */
  replayId?: string | undefined;
  /** When this happened, in milliseconds. */
  at: number;
} & OutcomeFact;

/** Set when the delivery was given up and its dead letter found no room: then only the record has it. */
type RefusedLetter = 'refused' | undefined;

export type OutcomeFact =
  /** An attempt was made. `nextAt` is set for a retry. */
  | {
      kind: 'attempt';
      attempt: number;
      outcome: 'delivered' | 'retry' | 'discarded' | 'expired';
      nextAt?: number | undefined;
      answers: OutcomeAnswer[];
      letter?: RefusedLetter;
    }
  /** No attempt was made: it waits in its lane. */
  | { kind: 'waiting'; attempts: number }
  /** Given up without another attempt. */
  | {
      kind: 'given_up';
      attempts: number;
      reason: Exclude<GiveUpReason, 'discarded' | 'letter_refused'>;
      letter?: RefusedLetter;
    }
  /** `rule`: in words, which rule of the destination's filters stopped it. */
  | { kind: 'skipped'; reason: string; rule?: string };

export type OutcomeAnswer = {
  url: string;
  status?: number | undefined;
  errorClass?: string | undefined;
  /** In words, for an error. */
  message?: string | undefined;
  address?: string | undefined;
  timings: { dnsMs?: number; connectMs?: number; tlsMs?: number; firstByteMs?: number; totalMs: number };
  /** How many events the POST had, when it was a batch of several. */
  events?: number | undefined;
  /** The first 16 KiB of the answer; left out when empty, and when the POST had several events. */
  body?: string | undefined;
};

export type OutcomeBatch = { entries: OutcomeEntry[] };

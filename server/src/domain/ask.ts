import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';
import type { TestedDestination, UrlCheck } from '@millrace/contract/control';

/** A question of control to a deliver process: only deliver may make requests to customers' URLs. */
export type Question = UrlQuestion | ProofQuestion | TestQuestion | CheckUpQuestion | RebuildQuestion | AuditQuestion;

export type UrlQuestion = { kind: 'check_url'; url: string };

/**
 * Whether the file at this URL has one of these lines. Deliver answers yes or no, and never with the file: no one reads a page inside
 * the network by it.
 */
export type ProofQuestion = { kind: 'read_proof'; workspaceId: string; url: string; lines: readonly string[] };

/**
 * Names the destination and carries neither its URL nor its secrets: deliver takes both from the signed configuration, so
 * that no question can send a secret elsewhere.
 */
export type TestQuestion = {
  kind: 'test';
  workspaceId: string;
  destinationId: string;
  /** The version of the destination that control saw. Deliver waits a moment for it, or for a newer one. */
  updatedAt: string;
  targetIndex: number;
  event: AcceptedEvent | DeleteEvent;
};

/** One request of a check-up. A kind of its own: an older deliver process would ignore `variation` and send a plain test. */
export type CheckUpQuestion = Omit<TestQuestion, 'kind'> & { kind: 'check_up'; variation: CheckUpVariation };

/** How the request differs from the first attempt of a delivery. */
export type CheckUpVariation = {
  /** The `webhook-id` is `test_` and this token: two requests with the same token have the same id. */
  token: string;
  /** `wrong`: both signatures are made with a random secret. */
  signature: 'right' | 'wrong';
  /** How old `webhook-timestamp` is; the signature covers it. */
  ageSeconds: number;
  attempt: number;
  /** As many of the event as a batch holds, where the destination gets batches. Older deliver processes send one. */
  fillsBatch?: true;
};

export type CheckUpAnswer = {
  status: number | null;
  errorClass: string | null;
  /** The answer in words. */
  sentence: string;
  ms: number;
  /** Of the body that was sent. */
  bytes: number;
  /** Events in that body; left out by older deliver processes, which send one. */
  events?: number;
  /** The request went over a connection that was open before. */
  isReused: boolean;
  /** The receiver announced that it closes the connection. */
  isClosing: boolean;
};

/** The request of a past attempt, as the present settings would make it. */
export type RebuildQuestion = Omit<TestQuestion, 'kind'> & {
  kind: 'rebuild';
  deliveryId: string;
  /** Left out by older control processes. */
  order?: string;
  /** When the attempt was made, its number from 1, and when the first one was made. */
  at: number;
  attempt: number;
  firstAttemptAt: number;
};

/**
 * Entries of an audit log for the URL of its workspace. Control signs the body itself: the secret stays in control. The headers are
 * those of the signature alone, without `host` and `content-length`.
 */
export type AuditQuestion = {
  kind: 'post_audit';
  workspaceId: string;
  url: string;
  headers: Record<string, string>;
  body: string;
};

export type AskAnswer =
  /** Null without an answer in time: then `why` has the reason. */
  | { kind: 'audit_posted'; status: number | null; why: string | null }
  | { kind: 'url_checked'; check: UrlCheck }
  | { kind: 'proof_read'; ok: boolean; detail: string }
  | { kind: 'tested'; tested: TestedDestination }
  | { kind: 'check_up_sent'; answer: CheckUpAnswer }
  /** Nothing was sent: the destination was changed after the check-up began. */
  | { kind: 'changed' }
  | { kind: 'rebuilt'; request: TestedDestination['request'] }
  /** Deliver cannot do it now, for a reason that people can act on. */
  | { kind: 'not_applied'; why: string };

import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';
import type { TestedDestination, UrlCheck } from '@millrace/contract/control';

/** A question of control to a deliver process: only deliver may make requests to customers' URLs. */
export type Question = UrlQuestion | TestQuestion;

export type UrlQuestion = { kind: 'check_url'; url: string };

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

export type AskAnswer =
  | { kind: 'url_checked'; check: UrlCheck }
  | { kind: 'tested'; tested: TestedDestination }
  /** Deliver cannot do it now, for a reason that people can act on. */
  | { kind: 'not_applied'; why: string };

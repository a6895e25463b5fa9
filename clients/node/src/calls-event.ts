/** The end of some calls; they are as they were, or would have been, sent. */
export interface CallsEvent {
  /** `failed`: the service or the network had its last word. `dropped`: the client gave them up. */
  kind: 'sent' | 'failed' | 'dropped';
  /** Why; empty for `sent`. */
  code: string;
  message: string;
  calls: SentCall[];
}

/** A call in the form it has on the wire. */
export interface SentCall {
  type: string;
  messageId: string;
  timestamp: string;
  [field: string]: unknown;
}

export type EventKind = CallsEvent['kind'];

export type Listener = (event: CallsEvent) => void;

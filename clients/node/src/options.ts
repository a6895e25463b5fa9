import type { CallsEvent } from './calls-event.ts';

/** Which call is dropped when the queue is full. */
export type WhenFull = 'dropNewest' | 'dropOldest';

export interface Options {
  /** Where the service is; a path in it is kept. Default `http://localhost:8080`. */
  endpoint?: string | undefined;
  /** How many calls are queued before they are sent. 1 turns batching off: each call is a request. Default 20. */
  flushAt?: number | undefined;
  /** The older name of `flushAt`, which wins where both are given. */
  size?: number | undefined;
  /** Milliseconds since the last flush after which what is queued is sent. Default 5000. */
  flushAfter?: number | undefined;
  /** How many calls may wait for their answer. Default 10,000. */
  maxQueueCalls?: number | undefined;
  /** How many bytes the calls that wait may have. Default 16 MiB. */
  maxQueueBytes?: number | undefined;
  /** Which call is dropped when no more may wait: the one being made, or the one made first. Default `dropNewest`. */
  whenFull?: WhenFull | undefined;
  /** How often a request is tried in all before its calls are given up. Default 10. */
  maxTries?: number | undefined;
  /** Milliseconds before the second try; each further wait is twice as long. Default 200. */
  minRetryMs?: number | undefined;
  /** The longest wait between two tries, unless the service asks for more with Retry-After. Default 30,000. */
  maxRetryMs?: number | undefined;
  /** Milliseconds a request may take, from start to the end of its answer. Default 10,000. */
  timeoutMs?: number | undefined;
  /** Whether requests above 1 KiB are compressed. Default true. */
  gzip?: boolean | undefined;
  /** A directory in which calls survive a crash of this process. Default: none, calls are only in memory. */
  spool?: string | undefined;
  /** Called with every call that failed or was dropped. Default: a line on standard error, at most one in ten seconds. */
  onError?: ((event: CallsEvent) => void) | undefined;
  /** Whether the end of the process and SIGTERM wait for open calls. Default true. */
  flushOnExit?: boolean | undefined;
  /** Milliseconds that the end of the process and SIGTERM wait at most. Default 5000. */
  exitTimeoutMs?: number | undefined;
  /** The library that calls name as `context.library`. Default: this package. */
  library?: { name: string; version: string } | undefined;
  /** The clock, in epoch milliseconds. For tests. */
  now?: (() => number) | undefined;
  /** Makes the id of a call that has none. For tests. */
  makeId?: (() => string) | undefined;
}

/** A request of several calls, as the load client means to send it, however often that takes. */
export type Batch = { sourceId: string; ids: string[] };

/** One try to send a batch. The outcome is an HTTP status, or a word for why there was none. */
export type Attempt = { startedAt: number; endedAt: number; outcome: number | string; hasRetryAfter: boolean };

export type SentCall = {
  sourceId: string;
  firstSentAt: number;
  /** When the attempt that was answered 200 began and ended. */
  answered: { startedAt: number; endedAt: number } | undefined;
};

/**
 * The clients' knowledge: every id they sent, and every id they were told is stored.
 * It lives in a process that no fault ever touches, so that plain memory is the truth.
 */
export type Oracle = {
  calls: ReadonlyMap<string, SentCall>;
  attempts: readonly Attempt[];
  noteSent(batch: Batch, at: number): void;
  noteAttempt(batch: Batch, attempt: Attempt): void;
  /** Resolves with the next attempt answered 200 that began after `startedAfter`; rejects when none comes for a minute. */
  nextStored(startedAfter: number): Promise<Attempt>;
};

type Waiting = { startedAfter: number; resolve(attempt: Attempt): void };

const PATIENCE_MS = 60_000;

export function openOracle(): Oracle {
  const calls = new Map<string, SentCall>();
  const attempts: Attempt[] = [];
  const waiting = new Set<Waiting>();

  function noteStored(batch: Batch, attempt: Attempt): void {
    for (const id of batch.ids) {
      const call = calls.get(id);
      if (call !== undefined) call.answered ??= attempt;
    }
    for (const waiter of waiting) {
      if (attempt.startedAt < waiter.startedAfter) continue;
      waiting.delete(waiter);
      waiter.resolve(attempt);
    }
  }

  return {
    calls,
    attempts,
    noteSent({ sourceId, ids }, at) {
      for (const id of ids) calls.set(id, { sourceId, firstSentAt: at, answered: undefined });
    },
    noteAttempt(batch, attempt) {
      attempts.push(attempt);
      if (attempt.outcome === 200) noteStored(batch, attempt);
    },
    nextStored(startedAfter) {
      const { promise, resolve, reject } = Promise.withResolvers<Attempt>();
      const tired = setTimeout(() => reject(new Error(`no request was stored for ${PATIENCE_MS} ms`)), PATIENCE_MS);
      waiting.add({ startedAfter, resolve });
      return promise.finally(() => clearTimeout(tired));
    },
  };
}

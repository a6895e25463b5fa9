/** Streams of outcomes that do not answer: silent for a moment, as in an election, or gone. */
export type AwayStreams = {
  note(index: number, isAnswered: boolean): void;
  /** Asked last: it was silent a moment ago. */
  isAway(index: number): boolean;
  /** It is silent for no longer than an election takes. */
  mayComeBack(index: number): boolean;
};

/** How long a stream that did not answer is asked last. */
const AWAY_MS = 5_000;
/** Longer than an election: after it, full streams decide for one that does not come back. */
const GONE_AFTER_MS = 15_000;

export function openAwayStreams(uptimeMs: () => number = () => performance.now()): AwayStreams {
  /** By the number of a stream that did not answer: since when, and when it did not for the last time. */
  const silences = new Map<number, { since: number; last: number }>();

  /** A stream without a question for that long may have been back meanwhile: its silence begins anew. */
  function beganAt(index: number, now: number): number {
    const before = silences.get(index);
    return before === undefined || now - before.last >= GONE_AFTER_MS ? now : before.since;
  }

  return {
    note(index, isAnswered) {
      const now = uptimeMs();
      if (isAnswered) silences.delete(index);
      else silences.set(index, { since: beganAt(index, now), last: now });
    },
    isAway: (index) => uptimeMs() - (silences.get(index)?.last ?? -Infinity) < AWAY_MS,
    mayComeBack: (index) => uptimeMs() - (silences.get(index)?.since ?? -Infinity) < GONE_AFTER_MS,
  };
}

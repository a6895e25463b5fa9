import { MAX_BATCHED_EVENTS } from '@millrace/contract';
import { type Line, waitingIn } from './line.ts';

/**
 * The short time in which a line that was empty waits for more deliveries of its batch. A line gathers from its first delivery on, until
 * the time is over or a whole batch waits; a line that waits for anything else needs no time of its own.
 */
export type Gathering = Disposable & {
  /** A delivery has joined the line of a destination that gets batches. */
  joined(line: Line): void;
  /** Whether the line waits for more. */
  holds(line: Line): boolean;
};

/** A lone event is late by this much. */
const GATHER_MS = 20;

export function openGathering(isOver: (line: Line) => void): Gathering {
  const timers = new Map<Line, NodeJS.Timeout>();
  const end = (line: Line) => {
    timers.delete(line);
    isOver(line);
  };
  return {
    joined(line) {
      if (waitingIn(line) === 1 && !timers.has(line)) timers.set(line, setTimeout(end, GATHER_MS, line));
    },
    holds: (line) => timers.size > 0 && timers.has(line) && waitingIn(line) < MAX_BATCHED_EVENTS,
    [Symbol.dispose]() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

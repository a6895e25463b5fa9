import type { Line } from './line.ts';
import type { YieldingWindow } from './yielding-window.ts';

/** Attempts of long backlogs that are under way, and the lines that wait for room for one, in turn. */
export type LongBacklogs = {
  /** Whether there is room for one more; if not, the line waits for it. */
  admits(line: Line): boolean;
  begin(): void;
  end(): void;
};

/** `isNext` is told the line whose turn has come. Without a window there is always room. */
export function openLongBacklogs(
  window: Pick<YieldingWindow, 'room'> | undefined,
  isNext: (line: Line) => void,
): LongBacklogs {
  let underWay = 0;
  const outside: Line[] = [];
  return {
    admits(line) {
      if (window?.room(underWay) !== 0) return true;
      if (!line.isOutside) outside.push(line);
      line.isOutside = true;
      return false;
    },
    begin() {
      underWay += 1;
    },
    end() {
      underWay -= 1;
      // The line that has waited longest for room comes before the one that made it.
      const next = outside.shift();
      if (next === undefined) return;
      next.isOutside = false;
      isNext(next);
    },
  };
}

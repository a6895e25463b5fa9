/**
 * The time up to which everything that was received has been folded: the least of all event streams. Timers run up to it and no
 * further. A timer that ran ahead of an event received before it would make a member leave and come back.
 *
 * Readers of this process move their own stream; the rows of the others are looked at every second. A stream whose row has not
 * changed for a minute has no reader: it does not hold up the others, and its timers run like those of any other.
 */
import type { PositionState } from './profiles/profile-store.ts';

export type Watermark = {
  /** Of a stream that this process reads, by the engine's clock. */
  moved(stream: string, clock: number): void;
  /** As PostgreSQL has them. `names`: the streams that exist. */
  seen(rows: readonly PositionState[], names: readonly string[]): void;
  /** Undefined while no stream is known. */
  now(): number | undefined;
};

const SILENT_MS = 60_000;

type Seen = { clock: number; mark: string; sinceMs: number };

export function openWatermark(): Watermark {
  const streams = new Map<string, Seen>();
  return {
    moved(stream, clock) {
      const before = streams.get(stream);
      if (before === undefined || clock > before.clock) {
        streams.set(stream, { clock, mark: before?.mark ?? '', sinceMs: performance.now() });
      }
    },
    seen(rows, names) {
      for (const stream of streams.keys()) if (!names.includes(stream)) streams.delete(stream);
      for (const { stream, position, epoch, beat } of rows) {
        if (position === undefined || !names.includes(stream)) continue;
        const mark = `${epoch} ${beat}`;
        const before = streams.get(stream);
        const clock = Math.max(before?.clock ?? 0, position.clock);
        const sinceMs = before?.mark === mark ? before.sinceMs : performance.now();
        streams.set(stream, { clock, mark, sinceMs });
      }
    },
    now() {
      const heard = [...streams.values()].filter(({ sinceMs }) => performance.now() - sinceMs < SILENT_MS);
      return heard.length === 0 ? undefined : Math.min(...heard.map(({ clock }) => clock));
    },
  };
}

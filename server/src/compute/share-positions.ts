/**
 * Which positions this process should hold. A position is free (it has no holder, or never had one), held by a process, or silent: its
 * holder has committed nothing for the length of a lease. A holder commits every few seconds, also when it has nothing to do. Silence is
 * measured by this process's own monotonic clock, from when it first saw the last commit: no clock of another host is compared, and
 * a holder that is only late fails by its epoch.
 *
 * Processes divide the streams by their number. One that holds more than its share gives back, one stream at a time; one that holds
 * less takes free and silent streams. A stream that stays silent for twice as long is taken by any process.
 */
import type { PositionState } from './profiles/profile-store.ts';

export type PositionLook = {
  /** The positions that there should be: one for each event stream. */
  names: readonly string[];
  rows: readonly PositionState[];
  /** Those that this process reads now. */
  held: ReadonlySet<string>;
  /** How many processes share them, this one included. */
  processes: number;
  /** Monotonic. */
  nowMs: number;
};

export type PositionChanges = { take: string[]; giveBack: string[] };

export const LEASE_MS = 10_000;
/** After it took a stream that its share does not cover: the process that should have taken it could not. */
const KEEP_MS = 300_000;

type Seen = { mark: string; sinceMs: number };

/** `look` is to be called every second or two. `holder` is the name of this process in the rows. */
export function openSharing(holder: string) {
  const seen = new Map<string, Seen>();
  let keepsUntilMs = 0;

  /** A position without a row is silent too: the process that should take it may not be able to. */
  function silentMs(name: string, row: PositionState | undefined, nowMs: number): number {
    const mark = row === undefined ? '' : `${row.epoch} ${row.beat}`;
    const before = seen.get(name);
    if (before?.mark === mark) return nowMs - before.sinceMs;
    seen.set(name, { mark, sinceMs: nowMs });
    return 0;
  }

  return {
    look({ names, rows, held, processes, nowMs }: PositionLook): PositionChanges {
      const byName = new Map(rows.map((row) => [row.stream, row]));
      const share = Math.ceil(names.length / processes);
      const take: string[] = [];
      for (const name of names.filter((each) => !held.has(each))) {
        const row = byName.get(name);
        const quietMs = silentMs(name, row, nowMs);
        const hasRoom = held.size + take.length < share;
        const isFree = row?.holder === undefined || quietMs >= LEASE_MS;
        const isForsaken = quietMs >= 2 * LEASE_MS;
        // Held by this process, and not read: it lost the database on the way, and does not know what was committed.
        if (row?.holder === holder || (isFree && hasRoom) || isForsaken) take.push(name);
        if (isForsaken && !hasRoom && row?.holder !== holder) keepsUntilMs = nowMs + KEEP_MS;
      }
      const gone = [...held].filter((name) => !names.includes(name));
      const surplus = held.size - gone.length > share && nowMs >= keepsUntilMs ? [...held].slice(-1) : [];
      return { take, giveBack: [...new Set([...gone, ...surplus])] };
    },
  };
}

/** The rows that the page shows: the newest, or those of the moment in which it began to hold. */
import { useMemo, useState } from 'react';
import type { TailRow } from '../../parts/tail/tail-rows.ts';
import type { Tail } from '../../parts/tail/use-tail.ts';

type Held = { rows: TailRow[]; calls: number };

export function useHeldRows({ rows, version }: Tail, wantsHold: boolean) {
  // The rows change in place: the version says when.
  const live = useMemo(() => ({ rows: rows.list(), ...rows.counts(), version }), [rows, version]);
  const [held, setHeld] = useState<Held | undefined>();
  const isHeld = wantsHold && (held !== undefined || live.rows.length > 0);
  if (isHeld && held === undefined) setHeld({ rows: live.rows, calls: live.calls });
  if (!isHeld && held !== undefined) setHeld(undefined);
  return {
    shown: held?.rows ?? live.rows,
    isHeld,
    /** Calls that came since the page began to hold. */
    fresh: held === undefined ? 0 : live.calls - held.calls,
    counts: live,
    showFresh: () => setHeld(undefined),
  };
}

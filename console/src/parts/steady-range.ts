/** The time range of a page as the API takes it. It moves on by whole steps, so that a read keeps its key meanwhile. */
import { useRange } from './range-switch.tsx';
import { useNow } from './use-now.ts';

const CHECKED_MS = 30_000;

export function useSteadyRange(): { from: string; to: string; step: number; words: string } {
  const { ms, step, words } = useRange();
  const now = useNow(CHECKED_MS);
  const stepMs = step * 1_000;
  const end = Math.ceil(now / stepMs) * stepMs;
  return { from: new Date(end - ms).toISOString(), to: new Date(end).toISOString(), step, words };
}

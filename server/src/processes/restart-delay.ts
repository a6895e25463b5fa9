const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/** Exponential backoff: the first crash costs a moment, and a child that cannot run is started twice a minute, for ever. */
export function restartDelayMs(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
}

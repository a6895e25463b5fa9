/** The only place where tests let time pass: `npm run check` refuses fixed sleeps anywhere else. */
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;
/** A claim that takes long to become true is asked less often: to ask an engine costs more processor time than the engine's work. */
const PART_OF_WAIT = 1 / 20;
/** So does one that takes long to look at. */
const TIMES_A_LOOK = 4;
const LONGEST_POLL_MS = 200;

/**
 * Polls until the claim is true and resolves with the milliseconds that took. The error quotes the claim, or `told()`.
 * Patience costs nothing where the claim becomes true, so it is long: a shorter one is for a time that is promised.
 */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  patienceMs = 60_000,
  told: () => unknown = () => isTrue.toString(),
): Promise<number> {
  const startedAt = performance.now();
  for (let lookedAt = startedAt; !(await isTrue()); lookedAt = performance.now()) {
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > patienceMs) throw new Error(`not within ${patienceMs} ms: ${String(told())}`);
    const lookMs = performance.now() - lookedAt;
    await sleep(Math.min(Math.max(POLL_MS, waitedMs * PART_OF_WAIT, lookMs * TIMES_A_LOOK), LONGEST_POLL_MS));
  }
  return Math.round(performance.now() - startedAt);
}

/**
 * Fails as soon as the claim is false. For an event that must not happen and is followed by no other that a test could wait for;
 * where there is one, wait for that with `until`.
 */
export async function staysTrueFor(ms: number, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms) {
    if (!(await isTrue())) {
      throw new Error(`not true after ${Math.round(performance.now() - startedAt)} ms: ${isTrue.toString()}`);
    }
    await sleep(POLL_MS);
  }
}

/** Resolves when the value has not changed for this time. */
export async function untilSteady(value: () => unknown, steadyMs: number): Promise<void> {
  let last = value();
  let since = performance.now();
  await until(() => {
    const now = value();
    if (now !== last) since = performance.now();
    last = now;
    return performance.now() - since >= steadyMs;
  });
}

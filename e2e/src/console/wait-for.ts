import { setTimeout as sleep } from 'node:timers/promises';

const WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 200;
const SETTLES_WITHIN_MS = 60_000;

/** Waits until something is so, however busy the machine is. */
export async function waitFor(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error(`within ${withinMs} ms it did not become so: ${what}`);
    await sleep(50);
  }
}

/** Looks again while there are problems: a page that is still loading has some for a moment. Resolves with those that stay. */
export async function lasting(look: () => Promise<string[]>): Promise<string[]> {
  const giveUpAt = Date.now() + SETTLES_WITHIN_MS;
  let problems = await look();
  while (problems.length > 0 && Date.now() < giveUpAt) {
    await sleep(LOOK_AGAIN_MS);
    problems = await look();
  }
  return problems;
}

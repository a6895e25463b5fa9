import { setTimeout as sleep } from 'node:timers/promises';
import type { Span } from './measure-attempts.ts';

const LOOK_AGAIN_MS = 50;

/** Polls the state of another process, which gives no signal. Resolves with the milliseconds it took. */
export async function waitUntil(
  what: string,
  withinMs: number,
  isTrue: () => Promise<boolean> | boolean,
): Promise<number> {
  const startedAt = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(LOOK_AGAIN_MS);
  }
  return performance.now() - startedAt;
}

/** Lets time pass, and says from when to when. */
export async function spend(ms: number): Promise<Span> {
  const from = performance.now();
  await sleep(ms);
  return { from, to: performance.now() };
}

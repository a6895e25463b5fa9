import { setImmediate } from 'node:timers/promises';

/** How long one piece of work may keep the event loop to itself. */
const MAX_MS = 5;

/** For loops that compute: called in each round, it lets everything else run that waits for the event loop. */
export function openBreather(now: () => number = () => performance.now()): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < MAX_MS) return;
    await setImmediate();
    since = now();
  };
}

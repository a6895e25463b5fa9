import { setRest, toBeat } from '../pause.ts';

const LOOK_EVERY_MS = 50;
const REST_MS = 500;
/** The part of its time that an event loop works, below which it rests. An idle installation works for less than a hundredth of it. */
const RESTS_BELOW = 0.03;

type Seen = (lateMs: number) => void;

/** All watchers share one timer: it is the same event loop, and each timer wakes the process by itself. */
const watchers = new Set<Seen>();
let timer: NodeJS.Timeout | undefined;
let dueAt = 0;
let worked = performance.eventLoopUtilization();

/**
 * Tells how late the event loop is: twenty times a second while it works, and twice a second while it rests. A plain timer and not
 * `monitorEventLoopDelay`, which looks a hundred times a second and takes half a percent of a core in an idle process.
 */
export function watchDelay(seen: Seen): Disposable {
  watchers.add(seen);
  if (timer === undefined) wait(LOOK_EVERY_MS);
  return {
    [Symbol.dispose]() {
      watchers.delete(seen);
      if (watchers.size > 0) return;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function wait(ms: number): void {
  dueAt = performance.now() + ms;
  timer = setTimeout(look, ms).unref();
}

function look(): void {
  const lateMs = Math.max(0, performance.now() - dueAt);
  const before = worked;
  worked = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(worked, before);
  const rests = utilization < RESTS_BELOW;
  setRest(rests);
  wait(rests ? toBeat(REST_MS) : LOOK_EVERY_MS);
  for (const seen of watchers) seen(lateMs);
}

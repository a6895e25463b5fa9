const LOOK_EVERY_MS = 50;

type Seen = (lateMs: number) => void;

/** All watchers share one timer: it is the same event loop, and each timer wakes the process by itself. */
const watchers = new Set<Seen>();
let timer: NodeJS.Timeout | undefined;
let dueAt = 0;

/**
 * Tells how late the event loop is, twenty times a second. A plain timer and not `monitorEventLoopDelay`, which looks a hundred times
 * a second and takes half a percent of a core in an idle process.
 */
export function watchDelay(seen: Seen): Disposable {
  watchers.add(seen);
  if (timer === undefined) start();
  return {
    [Symbol.dispose]() {
      watchers.delete(seen);
      if (watchers.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

function start(): void {
  dueAt = performance.now() + LOOK_EVERY_MS;
  timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
}

function look(): void {
  const now = performance.now();
  const lateMs = Math.max(0, now - dueAt);
  dueAt = now + LOOK_EVERY_MS;
  for (const seen of watchers) seen(lateMs);
}

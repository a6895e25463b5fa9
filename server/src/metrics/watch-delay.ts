const LOOK_EVERY_MS = 50;

/**
 * Tells how late the event loop is, twenty times a second. A timer of ours and not `monitorEventLoopDelay`: that one looks a
 * hundred times a second, for half a percent of a core, in a process that has nothing to do.
 */
export function watchDelay(seen: (lateMs: number) => void): Disposable {
  let dueAt = performance.now() + LOOK_EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    seen(Math.max(0, now - dueAt));
    dueAt = now + LOOK_EVERY_MS;
  }, LOOK_EVERY_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

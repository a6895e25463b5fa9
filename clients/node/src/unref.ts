/** Keeps a timer from holding the process. Timers of other runtimes are numbers, which hold nothing. */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') {
    timer.unref();
  }
}

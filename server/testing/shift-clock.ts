/** The clock of this host, set wrong: `Date` alone. The monotonic clock, timers and all other processes go on as before. */
export type ShiftedClock = Disposable & {
  /** By how much `Date` is ahead from now on; negative for behind. */
  set(shiftMs: number): void;
};

export function shiftClock(shiftMs: number): ShiftedClock {
  const host = globalThis.Date;
  let shift = shiftMs;
  const now = () => host.now() + shift;
  globalThis.Date = new Proxy(host, {
    construct: (target, given: unknown[], made) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, made) as Date,
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
  return {
    set: (changed) => void (shift = changed),
    [Symbol.dispose]: () => void (globalThis.Date = host),
  };
}

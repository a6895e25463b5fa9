/** Cuts work into slices, one for each turn of the event loop, so that sockets and timers are never held up for long. */
export type Slices = Disposable & {
  /** Notes that work was done. One unit is about 20 microseconds: a delivery, or a kilobyte of JSON. */
  spend(units: number): void;
  /** Whether the slice of this turn is used up. */
  isSpent(): boolean;
};

/** About ten milliseconds. */
const SLICE_UNITS = 500;

/** `resume` is called in the turn after each one in which work was done. */
export function openSlices(resume: () => void): Slices {
  let spent = 0;
  let next: NodeJS.Immediate | undefined;
  return {
    spend(units) {
      spent += units;
      next ??= setImmediate(() => {
        next = undefined;
        spent = 0;
        resume();
      });
    },
    isSpent: () => spent >= SLICE_UNITS,
    [Symbol.dispose]: () => clearImmediate(next),
  };
}

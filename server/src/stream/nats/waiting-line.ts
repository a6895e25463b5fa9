/** A semaphore: at most `most` inside at a time; the others wait, first in, first out. */
export type WaitingLine = { enter(): Promise<void>; leave(): void };

export function openWaitingLine(most: number): WaitingLine {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return {
    enter() {
      if (inside >= most) return new Promise((resolve) => waiting.push(resolve));
      inside += 1;
      return Promise.resolve();
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) inside -= 1;
      else next();
    },
  };
}

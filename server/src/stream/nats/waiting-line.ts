/** Lets so many in at a time; the others wait for their turn, first come, first served. */
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

import { percentileMs, type Span, type Timed } from '../measure-attempts.ts';

/** How late the machine itself is: a process that has next to nothing to do should be woken when it asked for it. */
export type MachineWatch = Disposable & { lateP99Ms(span: Span): number };

const EVERY_MS = 20;

export function watchMachine(): MachineWatch {
  const woken: Timed[] = [];
  let wantedAt = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    woken.push({ startedAt: wantedAt, endedAt: Math.max(wantedAt, now) });
    wantedAt = now + EVERY_MS;
  }, EVERY_MS);
  return {
    lateP99Ms: ({ from, to }) =>
      percentileMs(
        woken.filter(({ startedAt }) => startedAt >= from && startedAt < to),
        0.99,
      ) ?? 0,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './seeded-random.ts';

/** When each fault strikes, in milliseconds from the start, and how long the whole takes. */
export type Schedule = { atMs: number[]; lengthMs: number };

export type ScheduleShape = { lengthMs: number; everyMs: readonly [number, number]; quietEndMs: number };

/** The same dice make the same schedule; the last moments stay quiet so that a run ends with a working system. */
export function planSchedule(random: Random, { lengthMs, everyMs, quietEndMs }: ScheduleShape): Schedule {
  const atMs: number[] = [];
  let at = random.between(...everyMs);
  while (at <= lengthMs - quietEndMs) {
    atMs.push(Math.round(at));
    at += random.between(...everyMs);
  }
  return { atMs, lengthMs };
}

/** Strikes at each time of the schedule, or as soon after it as the strike before has ended. */
export async function followSchedule({ atMs, lengthMs }: Schedule, strike: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const reach = (ms: number) => sleep(Math.max(0, startedAt + ms - performance.now()));
  for (const at of atMs) {
    await reach(at);
    await strike();
  }
  await reach(lengthMs);
}

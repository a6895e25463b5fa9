import { setTimeout as sleep } from 'node:timers/promises';
import { addScene, type Asked } from '../../../server/testing/stack.ts';
import type { Receivers } from './start-receivers.ts';
import { track } from '../../../server/testing/samples.ts';

const EVERY_MS = 20;
/** For the last ones to come. */
const PATIENCE_MS = 3_000;

export type Span = { from: number; to: number };
export type OtherTimes = { p50Ms: number; p99Ms: number; maxMs: number; sent: number; missing: number };

/** A steady flow to a destination of its own: how long from the call to its receiver, for the calls of some times. */
export type OtherFlow = { timesIn(spans: readonly Span[]): OtherTimes };

export async function watchOther(stack: Asked, receivers: Receivers) {
  const scene = await addScene(stack, receivers.otherUrl);
  let total = 0;
  return {
    async during(work: () => Promise<unknown>): Promise<OtherFlow> {
      const sentAt = new Map<string, number>();
      await receivers.others();
      const timer = setInterval(() => {
        const name = `other ${(total += 1)}`;
        sentAt.set(name, clockMs());
        void stack.send(scene.writeKey, [track(name)]);
      }, EVERY_MS);
      await work().finally(() => clearInterval(timer));
      await sleep(PATIENCE_MS);
      const cameAt = firstTimes(await receivers.others());
      const isIn = (at: number) => (span: Span) => at >= span.from && at < span.to;
      return {
        timesIn(spans) {
          const sent = [...sentAt].filter(([, at]) => spans.some(isIn(at)));
          return timesOf(sent.map(([name, at]) => (cameAt.get(name) ?? Infinity) - at));
        },
      };
    },
  };
}

export function firstTimes(
  arrived: readonly (readonly [what: string, at: number, id: string])[],
): ReadonlyMap<string, number> {
  const cameAt = new Map<string, number>();
  for (const [name, at] of arrived) if (!cameAt.has(name)) cameAt.set(name, at);
  return cameAt;
}

export function timesOf(times: readonly number[]): OtherTimes {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  const round = (ms: number) => Math.round(ms * 10) / 10;
  const missing = sorted.filter((ms) => ms === Infinity).length;
  return { p50Ms: round(at(0.5)), p99Ms: round(at(0.99)), maxMs: round(at(1)), sent: sorted.length, missing };
}

/** The clock that all processes of a machine share. */
export function clockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

export async function spend(ms: number): Promise<Span> {
  const from = clockMs();
  await sleep(ms);
  return { from, to: clockMs() };
}

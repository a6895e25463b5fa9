import { type Complaint, trueOnes } from '../complaints.ts';
import { percentileMs, type Span, type Timed } from '../measure-attempts.ts';
import type { Findings } from '../run-fault.ts';

export type LatencyBound = {
  /** A p99 below this is never slow, however fast the quiet one was: for machines that have other things to do. */
  floorMs: number;
  /** p99 may not pass this, however slow it was in quiet times. */
  maxP99Ms: number;
  /** Not one may pass this. */
  lateMs: number;
  /** The allowed multiple of the quiet p99; two, if this is left out. */
  times?: number;
  /** How many processes an event passes through; each is as late as the machine is. */
  hops?: number;
};

/** The promised bound, on a machine that has nothing else to do. */
export const STRICT: LatencyBound = { floorMs: 0, maxP99Ms: 500, lateMs: 1_000 };
/** For CI, whose two cores have other things to do: only a plain fault turns it red. */
export const NOISY: LatencyBound = { floorMs: 250, maxP99Ms: 2_000, lateMs: 3_000, hops: 8 };

export type LatencyCase = {
  name: string;
  quiet: readonly Timed[];
  during: readonly Timed[];
  bound: LatencyBound;
  /** Which part is compared: 0.99, if this is left out. */
  percentile?: number;
  /** How late the machine woke a process meanwhile, at p99. */
  machineLateMs?: number;
};

/** The p99 of healthy destinations at most doubles, or grows as much as the bound allows. */
export function judgeLatency({
  name,
  quiet,
  during,
  bound,
  percentile = 0.99,
  machineLateMs = 0,
}: LatencyCase): Findings {
  const quietP99Ms = percentileMs(quiet, percentile) ?? Infinity;
  const p99Ms = percentileMs(during, percentile) ?? Infinity;
  const word = `p${Math.round(percentile * 100)}`;
  const maxMs = percentileMs(during, 1) ?? Infinity;
  const noiseMs = machineLateMs * (bound.hops ?? 0);
  const limitMs = Math.round(
    Math.min(bound.maxP99Ms, Math.max(bound.floorMs, (bound.times ?? 2) * quietP99Ms)) + noiseMs,
  );
  const complaints: Complaint[] = [[quiet.length === 0 || during.length === 0, `${name}: nothing was measured`]];
  const late: Complaint[] = [
    [p99Ms > limitMs, `${name}: ${word} was ${p99Ms} ms, over ${limitMs} ms; in quiet times it is ${quietP99Ms} ms`],
    [maxMs > bound.lateMs + noiseMs, `${name}: one came ${maxMs} ms late`],
  ];
  return {
    failures: trueOnes(complaints),
    late: trueOnes(late),
    figures: {
      [name]: { ...latencyFigures(during), [`${word}Ms`]: p99Ms, quietP99Ms, limitMs, machineLateMs },
    },
  };
}

export function latencyFigures(timed: readonly Timed[]) {
  const at = (part: number) => percentileMs(timed, part);
  return { measured: timed.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

export function startedIn(timed: readonly Timed[], { from, to }: Span): Timed[] {
  return timed.filter(({ startedAt }) => startedAt >= from && startedAt < to);
}

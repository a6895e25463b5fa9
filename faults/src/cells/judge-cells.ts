import { type Complaint, trueOnes } from '../complaints.ts';
import { judgeLatency, type LatencyBound, NOISY } from '../deliver/judge-latency.ts';
import { joinFindings } from '../join-findings.ts';
import { countOutcomes, type Span, type Timed } from '../measure-attempts.ts';
import type { Findings } from '../run-fault.ts';
import { waitUntil } from '../wait-until.ts';
import type { CellSource, SentCall } from './cell-source.ts';
import type { CellScene } from './open-cell-scene.ts';

/** On a machine that has nothing else to do the other cell's p99 stays within 1.2 times of that before. */
export const UNHARMED: LatencyBound = { floorMs: 25, maxP99Ms: 500, lateMs: 2_000, times: 1.2, hops: 2 };
/** A spare carries the load of both cells: it may be slower, and not slow. */
export const CARRIES_BOTH: LatencyBound = { floorMs: 250, maxP99Ms: 500, lateMs: 2_000, hops: 2 };
export const boundFor = (isFull: boolean): LatencyBound => (isFull ? UNHARMED : NOISY);

const ARRIVED_WITHIN_MS = 60_000;

/** Every call that was answered 200 arrives; those that arrive twice are counted. */
export async function judgeArrivals({ arrivals }: CellScene, sources: readonly CellSource[]): Promise<Findings> {
  const stored = sources.flatMap(({ sent }) => sent).filter(({ outcome }) => outcome === 200);
  const missing = () => stored.filter(({ id }) => !arrivals.has(id));
  await waitUntil('every stored call has arrived', ARRIVED_WITHIN_MS, () => missing().length === 0).catch(() => 0);
  const lost = missing().length;
  const repeated = stored.filter(({ id }) => (arrivals.get(id)?.length ?? 0) > 1).length;
  const failures = lost === 0 ? [] : [`${lost} of ${stored.length} stored calls never arrived`];
  return { failures, late: [], figures: { stored: stored.length, lost, repeated } };
}

export type Spans = { quiet: Span; during: Span };

/** The source of a cell that nothing happened to: every call is stored, as fast as before, and delivered as fast. */
export function judgeUnharmed(
  source: CellSource,
  { arrivals, machine }: CellScene,
  { spans, bound, name }: { spans: Spans; bound: LatencyBound; name: string },
): Findings {
  const calls = callsIn(source, spans.during);
  const refused = calls.filter(({ outcome }) => outcome !== 200);
  const failures = refused.length === 0 ? [] : [`${name}: ${refused.length} calls of the other cell were refused`];
  const delivered = (span: Span): Timed[] =>
    callsIn(source, span).flatMap(({ id, startedAt }) => {
      const endedAt = arrivals.get(id)?.[0];
      return endedAt === undefined ? [] : [{ startedAt, endedAt }];
    });
  const answers = { quiet: callsIn(source, spans.quiet), during: calls };
  const deliveries = { quiet: delivered(spans.quiet), during: delivered(spans.during) };
  const machineLateMs = machine.lateP99Ms(spans.during);
  return joinFindings(
    { failures },
    judgeLatency({ name: `${name}Answers`, ...answers, bound, machineLateMs }),
    judgeLatency({ name: `${name}Deliveries`, ...deliveries, bound, machineLateMs }),
  );
}

export type Expected = { status: 200 | 503; name: string };

/** The source of the lost cell: after a moment every answer is the expected one. */
export function judgeLost(source: CellSource, settled: Span, { status, name }: Expected): Findings {
  const calls = callsIn(source, settled);
  const others = calls.filter(({ outcome }) => outcome !== status);
  const complaints: Complaint[] = [
    [calls.length === 0, `${name}: nothing was sent`],
    [others.length > 0, `${name}: ${others.length} of ${calls.length} calls were not answered ${status}`],
  ];
  return { failures: trueOnes(complaints), late: [], figures: { [name]: countOutcomes(calls) } };
}

export function callsIn({ sent }: CellSource, { from, to }: Span): SentCall[] {
  return sent.filter(({ startedAt }) => startedAt >= from && startedAt < to);
}

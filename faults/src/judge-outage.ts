import { type Complaint, trueOnes } from './complaints.ts';
import { percentileMs } from './measure-attempts.ts';
import type { Attempt } from './oracle.ts';
import type { Findings } from './run-fault.ts';
import { msUntilStatus, type ReadySample } from './watch-readiness.ts';

/** A time without any engine, and what was seen when it came back. */
export type Outage = {
  signal: NodeJS.Signals;
  from: number;
  /** From here on nothing could be stored. */
  goneAt: number;
  returnedAt: number;
  /** After the return: until the servers had elected leaders, and until a request was answered 200. */
  untilLeadersMs: number;
  untilStoredMs: number;
  /** Readiness follows what requests find out, so it depends on how many there are. */
  redWithinMs: number;
};

const MAX_ANSWER_MS = 1_000;
const MAX_RECOVERY_MS = 5_000;
/** Requests in flight when the engine stopped may still have been stored. */
const ON_ITS_WAY_MS = 50;

/** While the engine is away, every client gets a 503 with Retry-After at once; afterwards collect recovers without a restart. */
export function judgeOutage(outage: Outage, attempts: readonly Attempt[], samples: readonly ReadySample[]): Findings {
  const { goneAt, returnedAt, untilLeadersMs, untilStoredMs, redWithinMs } = outage;
  const asked = attempts.filter(({ startedAt }) => startedAt > goneAt + ON_ITS_WAY_MS && startedAt < returnedAt);
  const refused = asked.filter(({ outcome }) => outcome === 503);
  const stored = asked.filter(({ outcome, endedAt }) => outcome === 200 && endedAt < returnedAt);
  const slow = refused.filter(({ startedAt, endedAt }) => endedAt - startedAt > MAX_ANSWER_MS);
  const bare = refused.filter(({ hasRetryAfter }) => !hasRetryAfter);
  const untilRedMs = msUntilStatus(samples, 503, outage.from);
  const untilGreenMs = msUntilStatus(samples, 200, returnedAt);
  const figures = {
    signal: outage.signal,
    refused: refused.length,
    p50RefusedMs: percentileMs(refused, 0.5),
    slowestRefusedMs: percentileMs(refused, 1),
    untilRedMs,
    untilLeadersMs,
    untilStoredMs,
    untilGreenMs,
  };
  const complaints: Complaint[] = [
    [refused.length === 0, 'no request was refused: the engine was not gone'],
    [bare.length > 0, `${bare.length} answers of 503 had no Retry-After`],
    [stored.length > 0, `${stored.length} requests were answered 200 without an engine`],
    [untilRedMs === undefined, '/readyz was never red'],
    [samples.some((sample) => isWronglyGreen(sample, outage, untilRedMs)), '/readyz was green without an engine'],
  ];
  const late: Complaint[] = [
    [slow.length > 0, `${slow.length} requests were told to come back only after up to ${figures.slowestRefusedMs} ms`],
    [(untilRedMs ?? 0) > redWithinMs, `/readyz was red after ${untilRedMs} ms`],
    [!(untilStoredMs <= untilLeadersMs + MAX_RECOVERY_MS), `no 200 within ${MAX_RECOVERY_MS} ms after the leaders`],
    [!((untilGreenMs ?? Infinity) <= untilLeadersMs + MAX_RECOVERY_MS), `/readyz was green after ${untilGreenMs} ms`],
  ];
  const named = (text: string) => `${outage.signal}: ${text}`;
  return { failures: trueOnes(complaints).map(named), late: trueOnes(late).map(named), figures };
}

/** Until it is red for the first time it is only late. */
function isWronglyGreen({ status, askedAt, answeredAt }: ReadySample, outage: Outage, untilRedMs = 0): boolean {
  const { from, returnedAt, redWithinMs } = outage;
  return status === 200 && askedAt > from + Math.max(redWithinMs, untilRedMs) && answeredAt < returnedAt;
}

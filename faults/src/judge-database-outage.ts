import { type Complaint, trueOnes } from './complaints.ts';
import type { ControlAnswer } from './control-client.ts';
import { meets, percentileMs, type Span } from './measure-attempts.ts';
import type { Attempt } from './oracle.ts';
import type { Figures, Findings } from './run-fault.ts';
import { msUntilStatus, type ReadySample } from './watch-readiness.ts';

/** A time without PostgreSQL, and what was seen in it and after it. */
export type DatabaseOutage = {
  /** Before it, when all was well. */
  quiet: Span;
  from: number;
  returningAt: number;
  returnedAt: number;
  /** Control's answers while there was no database. */
  answers: readonly ControlAnswer[];
  attempts: readonly Attempt[];
  /** Of a process without a database: if that one is slow too, the machine is the cause. */
  besideAttempts: readonly Attempt[];
  collectReadiness: readonly ReadySample[];
  /** When collect heard nothing from a stream, by its own log. */
  silences: readonly Span[];
  controlReadiness: readonly ReadySample[];
  /** Sources whose creation had been refused and that are there all the same. */
  unwanted: number;
  /** After the return: until collect refused a source disabled then, and accepted one created then. */
  untilDisabledMs: number;
  untilCreatedMs: number;
};

type Judged = { figures: Figures; complaints: Complaint[]; late: Complaint[] };

const MAX_ANSWER_MS = 1_000;
const MAX_RED_MS = 1_000;
const MAX_RETURN_MS = 5_000;
const P99_SLACK_MS = 20;

/** Collect does not notice; control says at once that the database is missing, and recovers without a restart. */
export function judgeDatabaseOutage(outage: DatabaseOutage): Findings {
  const judged = [judgeCollect(outage), judgeControl(outage), judgeReturn(outage)];
  return {
    failures: judged.flatMap(({ complaints }) => trueOnes(complaints)),
    late: judged.flatMap(({ late }) => trueOnes(late)),
    figures: Object.assign({}, ...judged.map(({ figures }) => figures)),
  };
}

function judgeCollect({ quiet, from, returningAt, attempts, ...outage }: DatabaseOutage): Judged {
  const during = { from, to: returningAt };
  const p99QuietMs = percentileMs(storedIn(attempts, quiet), 0.99) ?? 0;
  const p99OutageMs = percentileMs(storedIn(attempts, during), 0.99) ?? Infinity;
  const p99BesideMs = percentileMs(storedIn(outage.besideAttempts, during), 0.99) ?? 0;
  const limitMs = 2 * Math.max(p99QuietMs, p99BesideMs) + P99_SLACK_MS;
  const isSilent = ({ askedAt, answeredAt }: ReadySample) => meets(outage.silences, { from: askedAt, to: answeredAt });
  const allRed = answeredWithin(outage.collectReadiness, during).filter(({ status }) => status !== 200);
  const red = allRed.filter((sample) => !isSilent(sample));
  return {
    figures: { p99QuietMs, p99OutageMs, p99BesideMs },
    complaints: [
      [p99OutageMs === Infinity, 'collect stored nothing'],
      [red.length > 0, `/readyz of collect was not green ${red.length} times`],
    ],
    late: [
      [p99OutageMs > limitMs, `p99 of collect was ${p99OutageMs} ms, over ${limitMs} ms`],
      [allRed.length > red.length, '/readyz of collect was not green while a stream was silent'],
    ],
  };
}

function judgeControl({ from, returningAt, answers, controlReadiness }: DatabaseOutage): Judged {
  const unhealthy = answers.filter(({ path, status }) => path === '/healthz' && status !== 200);
  const refused = answers.filter(({ path }) => path !== '/healthz');
  const odd = new Set(refused.filter((answer) => !isRefusal(answer)).map(describe));
  const slowestRefusedMs = Math.round(Math.max(0, ...refused.map(({ askedAt, answeredAt }) => answeredAt - askedAt)));
  const untilRedMs = msUntilStatus(controlReadiness, 503, from);
  // Until it is red for the first time it is only late, unless that never comes.
  const wasRed = from + (untilRedMs ?? Infinity) < returningAt;
  const redFrom = from + Math.max(MAX_RED_MS, untilRedMs ?? 0);
  const afterwards = answeredWithin(controlReadiness, { from: redFrom, to: returningAt });
  const green = afterwards.filter(({ status }) => status === 200);
  return {
    figures: { outageMs: Math.round(returningAt - from), refused: refused.length, slowestRefusedMs, untilRedMs },
    complaints: [
      [refused.length === 0, 'control was not asked'],
      [odd.size > 0, `control did not answer 503 database_unavailable with Retry-After: ${[...odd].join(', ')}`],
      [unhealthy.length > 0, `/healthz of control was not green ${unhealthy.length} times`],
      [!wasRed, '/readyz of control was never red'],
      [green.length > 0, `/readyz of control was green ${green.length} times without a database`],
    ],
    late: [
      [slowestRefusedMs > MAX_ANSWER_MS, `control took up to ${slowestRefusedMs} ms to refuse`],
      [(untilRedMs ?? 0) > MAX_RED_MS, `/readyz of control was red after ${untilRedMs} ms`],
    ],
  };
}

function judgeReturn({ returnedAt, controlReadiness, unwanted, ...until }: DatabaseOutage): Judged {
  const { untilDisabledMs, untilCreatedMs } = until;
  const untilGreenMs = msUntilStatus(controlReadiness, 200, returnedAt) ?? Infinity;
  return {
    figures: { untilGreenMs, untilDisabledMs, untilCreatedMs },
    complaints: [[unwanted > 0, `${unwanted} sources are there although their creation was refused`]],
    late: [
      [untilGreenMs > MAX_RETURN_MS, `/readyz of control was green after ${untilGreenMs} ms`],
      [untilDisabledMs > MAX_RETURN_MS, `a source disabled at the return was refused after ${untilDisabledMs} ms`],
      [untilCreatedMs > MAX_RETURN_MS, `a source created at the return was accepted after ${untilCreatedMs} ms`],
    ],
  };
}

function isRefusal({ status, body, hasRetryAfter }: ControlAnswer): boolean {
  return status === 503 && body.code === 'database_unavailable' && body.title !== undefined && hasRetryAfter;
}

function storedIn(attempts: readonly Attempt[], { from, to }: Span): Attempt[] {
  return attempts.filter(({ startedAt, outcome }) => startedAt >= from && startedAt < to && outcome === 200);
}

function answeredWithin(samples: readonly ReadySample[], { from, to }: Span): ReadySample[] {
  return samples.filter(({ askedAt, answeredAt }) => askedAt > from && answeredAt < to);
}

function describe({ path, status, body }: ControlAnswer): string {
  return `${path} ${status} ${body.code ?? ''}`;
}

import { isObject } from '../../../contract/src/call.ts';

/** The result of one request: an answer, or the reason why there is none. */
export type Answer = { status: number; retryAfter: string | undefined; body: string } | { error: string };

export type Problem = { code: string; message: string };

/** The meaning of an answer for the calls of its batch. */
export type Outcome =
  | { kind: 'sent'; rejected: ReadonlyMap<number, Problem> }
  | { kind: 'retry'; problem: Problem; afterMs: number | undefined }
  | { kind: 'split'; problem: Problem }
  | { kind: 'failed'; problem: Problem; rejected: ReadonlyMap<number, Problem> };

/** A day: a service that asks for more is better asked again. */
const LONGEST_WAIT_MS = 86_400_000;

export function judgeAnswer(answer: Answer, nowMs: number): Outcome {
  if ('error' in answer) {
    return { kind: 'retry', problem: { code: 'network_error', message: answer.error }, afterMs: undefined };
  }
  const { status, body } = answer;
  const said = readBody(body);
  if (status >= 200 && status < 300) return { kind: 'sent', rejected: readRejected(said) };
  const problem = readProblem(said, status);
  if (isLater(status)) return { kind: 'retry', problem, afterMs: readRetryAfter(answer.retryAfter, nowMs) };
  if (status === 413) return { kind: 'split', problem };
  return { kind: 'failed', problem, rejected: readRejected(said) };
}

/** A service that refuses a request will refuse it again; these statuses only mean "not now". */
function isLater(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function readBody(body: string): Readonly<Record<string, unknown>> {
  // Nearly every answer; it says nothing that the status has not said.
  if (body === '{"success":true}') return {};
  try {
    const said: unknown = JSON.parse(body);
    return isObject(said) ? said : {};
  } catch {
    return {};
  }
}

function readProblem(said: Readonly<Record<string, unknown>>, status: number): Problem {
  const { code, message } = said;
  return {
    code: typeof code === 'string' ? code : `http_${status}`,
    message: typeof message === 'string' ? message : `The service answered ${status}.`,
  };
}

function readRejected({ rejected }: Readonly<Record<string, unknown>>): ReadonlyMap<number, Problem> {
  const problems = new Map<number, Problem>();
  if (!Array.isArray(rejected)) return problems;
  for (const item of rejected as unknown[]) {
    if (!isObject(item) || typeof item.index !== 'number') continue;
    const code = typeof item.code === 'string' ? item.code : 'rejected';
    problems.set(item.index, { code, message: typeof item.message === 'string' ? item.message : code });
  }
  return problems;
}

/** Seconds or a date, as HTTP has it. */
export function readRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  const waitMs = Number.isNaN(seconds) ? Date.parse(value) - nowMs : seconds * 1_000;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), LONGEST_WAIT_MS);
}

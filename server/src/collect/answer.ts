import type { LimitName } from '@millrace/contract/control';
import { type Problem, problemOf, type Refusal, type RequestProblemCode } from '@millrace/contract';
import { LIMITS, limitSentence } from '../limits/limits.ts';

/** The response to the client. Never 201, 202, 204 or 3xx to a call: client libraries take only 200 for success. */
export type Answer = {
  status: number;
  body: string | Buffer;
  headers: Readonly<Record<string, string | number>>;
  /** Why it was refused, for the count. */
  code?: string;
};

const STATUS: Readonly<Record<RequestProblemCode, number>> = {
  malformed_json: 400,
  invalid_write_key: 401,
  oauth_not_supported: 401,
  source_disabled: 403,
  payload_too_large: 413,
  unsupported_encoding: 415,
  rate_limited: 429,
  unavailable: 503,
};

const STORED = jsonAnswer(200, { success: true });

/** Everything of a single call, or every call of a batch, is stored. */
export function storedAnswer(accepted: number, refused: Refusal[]): Answer {
  return refused.length === 0 ? STORED : jsonAnswer(200, { success: true, accepted, rejected: refused });
}

export function problemAnswer(code: RequestProblemCode): Answer {
  return { ...jsonAnswer(STATUS[code], { success: false, ...problemOf(code) }), code };
}

/** Refused by the contract: a single call, or all of a batch. */
export function refusedAnswer(problem: Problem, refused: Refusal[]): Answer {
  const body = { success: false, ...problem, ...(refused.length > 0 ? { rejected: refused } : {}) };
  return { ...jsonAnswer(400, body), code: problem.code };
}

/** Whole seconds: client libraries read nothing else. */
export function laterAnswer(code: 'rate_limited' | 'unavailable', seconds: number): Answer {
  const answer = problemAnswer(code);
  const reset: Record<string, number> = code === 'rate_limited' ? { 'X-RateLimit-Reset': seconds } : {};
  return { ...answer, headers: { ...answer.headers, 'Retry-After': seconds, ...reset } };
}

/** Over a limit of the workspace: says which, how much it is and who can raise it. */
export function limitAnswer(name: LimitName, most: number, seconds: number): Answer {
  const { headers } = laterAnswer('rate_limited', seconds);
  const message = `${limitSentence(name, most)} Send again after the seconds given in Retry-After.`;
  const limit = { name, most, raisedBy: LIMITS[name].raisedBy };
  const answer = jsonAnswer(STATUS.rate_limited, { success: false, code: 'rate_limited', message, limit });
  return { ...answer, headers: { ...headers, ...answer.headers }, code: 'rate_limited' };
}

/** For answers that depend on the Host header: a cache would give one visitor's answer to others. */
export function uncached(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
}

export function jsonAnswer(status: number, value: unknown): Answer {
  const body = JSON.stringify(value);
  return { status, body, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } };
}

/** One request to the control API of our own origin. A refusal becomes an `ApiError` that says what happened and what to do. */

import { takeEarly } from './early-answers.ts';

/** The problem document of a refused request. */
export type Problem = {
  status: number;
  code: string;
  title: string;
  detail: string;
  requestId: string;
  errors?: { path: string; message: string }[];
};

export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.title}. ${problem.detail}`);
    this.name = 'ApiError';
    this.problem = problem;
  }
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export type Ask = {
  method?: Method;
  query?: Query | undefined;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** A one-time token in place of a session, for the first set-up. */
  bearer?: string | undefined;
  /** A POST with the same key may be sent again: the server makes the thing once. */
  idempotencyKey?: string | undefined;
};

/** Each answer names the build of the console that the server has now; the shell listens, and offers to reload. */
type Listener = (version: string) => void;
const listeners = new Set<Listener>();
let workspaceId: string | undefined;

export function setWorkspace(id: string | undefined): void {
  workspaceId = id;
}

export function currentWorkspace(): string | undefined {
  return workspaceId;
}

export function onConsoleVersion(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export async function askControl<Answer>(path: string, ask: Ask = {}): Promise<Answer> {
  const response = await send(path, ask);
  if (response.status === 204) return undefined as Answer;
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer as Answer;
  throw new ApiError(problemOf(response, answer));
}

/** The body of an answer that goes on, as the live tail does. */
export async function askStream(path: string, ask: Ask): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await send(path, ask);
  if (response.ok && response.body !== null) return response.body;
  throw new ApiError(problemOf(response, await response.json().catch(() => undefined)));
}

async function send(path: string, ask: Ask): Promise<Response> {
  const { method = 'GET', query, body, signal, bearer, idempotencyKey } = ask;
  const headers: Record<string, string> = { 'Millrace-Csrf': '1' };
  if (bearer !== undefined) headers['Authorization'] = `Bearer ${bearer}`;
  if (workspaceId !== undefined) headers['Millrace-Workspace'] = workspaceId;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  const init: RequestInit = { method, headers, signal: signal ?? null };
  if (body !== undefined) init.body = JSON.stringify(body);
  const url = urlOf(path, query);
  const request = () => fetch(url, init);
  const early = method === 'GET' ? takeEarly(url) : undefined;
  const response = await (early?.catch(request) ?? request()).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ApiError(unreachable(init.method));
  });
  tellVersion(response);
  return response;
}

export function urlOf(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return `/api/v1${path}${text === '' ? '' : `?${text}`}`;
}

function tellVersion(response: Response): void {
  const version = response.headers.get('Millrace-Console');
  if (version !== null) for (const listener of listeners) listener(version);
}

function problemOf(response: Response, answer: unknown): Problem {
  const problem = (answer ?? {}) as Partial<Problem>;
  return {
    ...problem,
    status: response.status,
    code: problem.code ?? `http_${response.status}`,
    title: problem.title ?? `The server answered ${response.status}`,
    detail: problem.detail ?? 'It gave no reason that the console can read.',
    requestId: problem.requestId ?? response.headers.get('X-Request-Id') ?? '',
  };
}

/** Only reads are repeated by themselves. */
function unreachable(method: string | undefined): Problem {
  const isRead = method === undefined || method === 'GET';
  return {
    status: 0,
    code: 'unreachable',
    title: 'The server does not answer',
    detail: isRead
      ? 'The console tries again by itself. Collection and delivery do not depend on the console.'
      : 'Try again in a moment: everything that you typed is still here.',
    requestId: '',
  };
}

/** A client of the control API: requests, lists page by page, and streams. Every refusal is thrown as a `Refusal`. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential } from './choose-server.ts';
import { problemOf, Refusal, tellLost } from './problems.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;
export type Ask = { query?: Query; body?: unknown; signal?: AbortSignal };

export type ControlSettings = {
  server: string;
  credential?: Credential;
  workspace?: string | undefined;
  /** The cookie of a sign-in that waits for its second factor. */
  ticket?: string;
  timeoutMs: number;
};

type Page<Item> = { items: Item[]; nextCursor?: string | null };

const PAGE_SIZE = 100;
const MOST_TRIES = 4;
const LONGEST_WAIT_SECONDS = 10;
/** Answers that pass by themselves; control has done nothing then, so any request may be sent again. */
const PASSING = new Set([
  'too_many_requests',
  'too_many_questions',
  'database_unavailable',
  'engine_unavailable',
  'deliver_busy',
]);

export type Control = ReturnType<typeof openControl>;

// oxlint-disable-next-line max-lines-per-function -- a factory: its functions share the settings
export function openControl(settings: ControlSettings) {
  const { server } = settings;
  async function askOnce(method: Method, path: string, ask: Ask & { headers: Record<string, string> }) {
    const body = ask.body === undefined ? null : JSON.stringify(ask.body);
    const response = await fetch(urlOf(server, path, ask.query), {
      method,
      headers: { ...ask.headers, ...(body === null ? {} : { 'Content-Type': 'application/json' }) },
      body,
      signal: ask.signal ?? null,
      redirect: 'manual',
    }).catch((error: unknown) => {
      if (isAbort(error)) throw error;
      throw tellLost(server, error);
    });
    if (response.ok) return response;
    const answer: unknown = await response.json().catch(() => undefined);
    throw new Refusal(problemOf(server, response, answer));
  }
  /** A repeated POST has the same Idempotency-Key, so that it takes effect once. */
  async function send(method: Method, path: string, ask: Ask = {}): Promise<Response> {
    const headers = headersFor(settings, method);
    for (let tries = 1; ; tries += 1) {
      const signal = withTimeout(ask.signal, settings.timeoutMs);
      try {
        return await askOnce(method, path, { ...ask, signal, headers });
      } catch (error) {
        const waitSeconds = error instanceof Refusal && PASSING.has(error.problem.code) ? tries : undefined;
        if (waitSeconds === undefined || tries >= MOST_TRIES || waitSeconds > LONGEST_WAIT_SECONDS) throw error;
        await sleep(waitSeconds * 1_000, undefined, ask.signal === undefined ? {} : { signal: ask.signal });
      }
    }
  }
  async function ask<Answer>(method: Method, path: string, given: Ask = {}): Promise<Answer> {
    const response = await send(method, path, given);
    const text = await response.text().catch((error: unknown) => {
      throw tellLost(server, error);
    });
    return readJson(server, response, text) as Answer;
  }
  return {
    server,
    workspace: settings.workspace,
    ask,
    /** One response as it came, for sign-in, which needs its headers. */
    send,
    /** All items of a list, page after page; stops after `most` of them. */
    async *list<Item>(path: string, query: Query = {}, most = Infinity): AsyncGenerator<Item> {
      let left = most;
      let cursor: string | undefined;
      do {
        const limit = Math.min(PAGE_SIZE, left);
        const page = await ask<Page<Item>>('GET', path, { query: { ...query, limit, cursor } });
        for (const item of page.items.slice(0, left)) yield item;
        left -= page.items.length;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined && left > 0);
    },
    /** An answer that goes on, such as the live tail. The timeout is for its beginning. */
    async stream(path: string, query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
      const starting = new AbortController();
      const timer = setTimeout(() => starting.abort(new DOMException('', 'TimeoutError')), settings.timeoutMs);
      const both = AbortSignal.any([signal, starting.signal]);
      const headers = { ...headersFor(settings, 'GET'), Accept: 'text/event-stream' };
      try {
        const { body } = await askOnce('GET', path, { query, signal: both, headers });
        if (body === null) throw tellLost(server, new Error('the answer is empty'));
        return body;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function headersFor(settings: ControlSettings, method: Method): Record<string, string> {
  const { server, credential, workspace, ticket } = settings;
  return {
    ...(ticket === undefined ? {} : { Cookie: `__Host-millrace-sign-in=${ticket}` }),
    ...(workspace === undefined ? {} : { 'Millrace-Workspace': workspace }),
    ...(method === 'POST' ? { 'Idempotency-Key': randomUUID() } : {}),
    ...(credential === undefined ? {} : authentication(server, credential)),
  };
}

/** Control takes writes with a session only from its own pages, which the last two headers stand for. */
function authentication(server: string, credential: Credential): Record<string, string> {
  if ('token' in credential) return { Authorization: `Bearer ${credential.token}` };
  return { Cookie: `__Host-millrace=${credential.session}`, Origin: new URL(server).origin, 'Millrace-Csrf': '1' };
}

function urlOf(server: string, path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const text = params.toString();
  return `${server}/api/v1${path}${text === '' ? '' : `?${text}`}`;
}

function withTimeout(signal: AbortSignal | undefined, ms: number): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

function readJson(server: string, response: Response, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const problem = problemOf(server, response, undefined);
    throw new Refusal({ ...problem, title: `${server} answered ${response.status}, but not with JSON` });
  }
}

/** The command itself gave up, as Ctrl-C does; a timeout has another name. */
function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

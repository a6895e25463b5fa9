import { type Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Attempt } from './oracle.ts';

export type Request = {
  url: string;
  agent: Agent;
  writeKey: string;
  body: string;
  /** The server may close connections that were idle for longer. */
  idleMs?: number;
};

/** Longer than the server may take for anything: a request that gets here was forgotten. */
const FORGOTTEN_AFTER_MS = 10_000;

/** Collect closes a connection that was idle for 65 s; an earlier close is its fault. */
const IDLE_MS = 60_000;

type Answer = Pick<Attempt, 'outcome' | 'hasRetryAfter'> & { wasClosedIdle?: boolean };

const CLOSED = new Set(['ECONNRESET', 'EPIPE']);
const lastUsedAt = new WeakMap<Socket, number>();

/**
 * One POST of a batch. Never throws: a connection that breaks is an outcome like any other. Only where the server had closed an idle one,
 * the request goes out again on the next, as it does from every HTTP client.
 */
export async function sendRequest(batch: Request): Promise<Attempt> {
  const startedAt = performance.now();
  let answer = await post(batch);
  while (answer.wasClosedIdle === true) answer = await post(batch);
  const { outcome, hasRetryAfter } = answer;
  return { startedAt, endedAt: performance.now(), outcome, hasRetryAfter };
}

function post({ url, agent, writeKey, body, idleMs = IDLE_MS }: Request): Promise<Answer> {
  return new Promise((resolve) => {
    const outgoing = request(`${url}/v1/batch`, { agent, method: 'POST', headers: headersOf(writeKey, body) });
    let wasIdle = false;
    const fail = (outcome: string, wasClosedIdle = false) => resolve({ outcome, hasRetryAfter: false, wasClosedIdle });
    const forgotten = setTimeout(() => {
      fail('timeout');
      outgoing.destroy();
    }, FORGOTTEN_AFTER_MS);
    outgoing.once('socket', (socket) => {
      wasIdle = performance.now() - (lastUsedAt.get(socket) ?? Infinity) >= idleMs;
    });
    outgoing.once('response', (response) => {
      const { socket } = response;
      response.resume();
      response.once('error', (error) => fail(codeOf(error)));
      response.once('end', () => {
        clearTimeout(forgotten);
        lastUsedAt.set(socket, performance.now());
        resolve({ outcome: response.statusCode ?? 0, hasRetryAfter: response.headers['retry-after'] !== undefined });
      });
    });
    outgoing.once('error', (error) => {
      clearTimeout(forgotten);
      fail(codeOf(error), wasIdle && CLOSED.has(codeOf(error)));
    });
    outgoing.end(body);
  });
}
export function headersOf(writeKey: string, body: string): Record<string, string> {
  return {
    Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  };
}

export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

import { type Agent, request } from 'node:http';
import type { Attempt } from './oracle.ts';

export type Request = { url: string; agent: Agent; writeKey: string; body: string };

/** Longer than the server may take for anything: a request that gets here was forgotten. */
const FORGOTTEN_AFTER_MS = 10_000;

/** One POST of a batch. Never throws: a connection that breaks is an outcome like any other. */
export function sendRequest({ url, agent, writeKey, body }: Request): Promise<Attempt> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const end = (outcome: Attempt['outcome'], hasRetryAfter = false) =>
      resolve({ startedAt, endedAt: performance.now(), outcome, hasRetryAfter });
    const outgoing = request(`${url}/v1/batch`, { agent, method: 'POST', headers: headersOf(writeKey, body) });
    const forgotten = setTimeout(() => {
      end('timeout');
      outgoing.destroy();
    }, FORGOTTEN_AFTER_MS);
    outgoing.once('response', (response) => {
      response.resume();
      response.once('error', (error) => end(codeOf(error)));
      response.once('end', () => {
        clearTimeout(forgotten);
        end(response.statusCode ?? 0, response.headers['retry-after'] !== undefined);
      });
    });
    outgoing.once('error', (error) => {
      clearTimeout(forgotten);
      end(codeOf(error));
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

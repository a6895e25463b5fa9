import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import { ANY_ORIGIN } from './cors.ts';

/** Writes an answer, with the headers that let pages of any origin read it. */
export function writeAnswer(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  if (request.headers.origin !== undefined) {
    response.setHeader('Access-Control-Allow-Origin', ANY_ORIGIN);
    response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-RateLimit-Reset');
  }
  response.writeHead(answer.status, answer.headers);
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

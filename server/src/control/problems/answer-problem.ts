import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../log.ts';
import { isConflict, isRefusedData, StoreRefused, StoreUnavailable } from '../../store/open-store.ts';
import { ApiProblem, problemDocument } from './problems.ts';

const RETRY_AFTER_SECONDS: Readonly<Record<string, string>> = {
  too_many_requests: '1',
  too_many_codes: '3600',
  too_many_requests_a_second: '1',
  too_soon: '5',
  too_many_questions: '2',
  too_many_streams: '10',
  429: '60',
  503: '2',
};

/** The one place where a thrown error becomes an answer. */
export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  const problem = toProblem(error);
  // Validation should have refused data that PostgreSQL refuses: the sender gets a 400, and the log a line about our gap.
  if (problem.code === 'internal' || (problem.code === 'invalid_request' && isRefusedData(error))) {
    const what = error instanceof Error ? error.stack : String(error);
    log.error(
      { requestId: request.id, method: request.method, route: request.routeOptions.url, what },
      'request.failed',
    );
  }
  const document = problemDocument(problem, request.id);
  const retryAfter = RETRY_AFTER_SECONDS[problem.code] ?? RETRY_AFTER_SECONDS[document.status];
  if (retryAfter !== undefined) void reply.header('Retry-After', retryAfter);
  if (document.status === 401) void reply.header('WWW-Authenticate', 'Bearer');
  return reply.code(document.status).type('application/problem+json').send(JSON.stringify(document));
}

function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  if (error instanceof StoreRefused) return new ApiProblem('database_refused', [{ path: '', message: error.message }]);
  if (error instanceof StoreUnavailable) return new ApiProblem('database_unavailable');
  if (isConflict(error)) return new ApiProblem('conflict');
  if (isRefusedData(error)) return new ApiProblem('invalid_request');
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return new ApiProblem('body_too_large');
  if (status === 415) return new ApiProblem('not_json');
  // Fastify refuses by itself only requests that it could not read.
  if (typeof status === 'number' && status < 500) return new ApiProblem('invalid_request');
  return new ApiProblem('internal');
}

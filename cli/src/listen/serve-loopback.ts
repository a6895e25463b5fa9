/**
 * The server of `millrace listen`: paths of the collection API are answered as in production, any other POST with a webhook's body
 * is a webhook. It answers on the loopback interface only, and only programs and pages of this machine.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AcceptedEvent, MAX_BATCH_BYTES } from '@millrace/contract';
import {
  type Answer,
  createHardenedServer,
  type HeardCall,
  jsonAnswer,
  laterAnswer,
  openLoopback,
  problemAnswer,
  readBody,
  writeAnswer,
} from '@millrace/server/loopback';
import { Failure } from '../output/failures.ts';
import { inline } from '../output/print.ts';
import { refusedCaller } from './check-caller.ts';
import { checkSignatures } from './check-signatures.ts';
import type { Headers, NewEntry } from './entry.ts';
import { nameOf, userOf } from './entry.ts';
import { type FailureRule, pickFailure } from './inject-failures.ts';

export type LoopbackSettings = {
  host: string;
  port: number;
  writeKey: string | undefined;
  /** Checks the signatures of webhooks. */
  secret: string | undefined;
  fail: readonly FailureRule[];
  delayMs: number;
  /** Origins of web pages elsewhere that may send here. */
  allowedOrigins: readonly string[];
};

export type LoopbackNeeds = {
  settings: LoopbackSettings;
  show(entry: NewEntry): number;
  /** Whether there is room to forward so many more events. */
  hasRoom(events: number): boolean;
  /** An accepted event, and the id of its entry. */
  accepted(event: AcceptedEvent, of: number): void;
  random(): number;
};

export type LoopbackServer = AsyncDisposable & { port: number };

const PATIENCE_MS = 1_000;

type Exchange = { request: IncomingMessage; response: ServerResponse };

export async function serveLoopback(needs: LoopbackNeeds): Promise<LoopbackServer> {
  const { settings } = needs;
  const { writeKey } = settings;
  const loopback = openLoopback({ writeKey, take: ({ length }) => needs.hasRoom(length) });
  const answer = (exchange: Exchange) =>
    loopback.hasPath(pathOf(exchange.request))
      ? answerCalls(exchange.request, needs, loopback.hear)
      : answerOther(exchange.request, needs);
  const server = createHardenedServer({ maxConnections: 1_000 }, (request, response) => {
    const exchange = { request, response };
    void respond(exchange, needs, answer).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return;
      needs.show({ kind: 'note', isProblem: true, text: `A request failed: ${String(error)}` });
      response.destroy();
    });
  });
  server.listen({ port: settings.port, host: settings.host });
  await once(server, 'listening').catch((error: unknown) => refuse(error, settings));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : settings.port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      // The answer to the last request still goes out; an injected timeout would hold the connection for ever.
      const impatient = setTimeout(() => server.closeAllConnections(), PATIENCE_MS);
      await closed;
      clearTimeout(impatient);
    },
  };
}

function refuse(error: unknown, { host, port }: LoopbackSettings): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    throw new Failure(`Another program listens on ${host}:${port}.`, {
      todo: 'Stop it, or give another port: --port 0 takes a free one.',
    });
  }
  if (code === 'EACCES') {
    throw new Failure(`This user may not listen on port ${port}.`, {
      todo: 'Give a port above 1023, such as --port 4318.',
    });
  }
  throw error;
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

type Respond = (exchange: Exchange) => Promise<Answer>;

async function respond(exchange: Exchange, needs: LoopbackNeeds, answer: Respond): Promise<void> {
  const { request, response } = exchange;
  const { settings, random } = needs;
  const refused = refusedCaller(request.headers, settings.allowedOrigins);
  if (refused !== undefined) return refuseCaller(exchange, refused, needs);
  // Only requests with a body are made to fail: a health check or a preflight is not the traffic under test.
  const failure = request.method === 'POST' ? pickFailure(settings.fail, random()) : undefined;
  if (failure !== undefined) return fail(exchange, failure, needs);
  const given = await answer(exchange);
  if (settings.delayMs > 0 && request.method === 'POST') await sleep(settings.delayMs);
  writeAnswer(request, response, given);
}

async function refuseCaller({ request, response }: Exchange, why: string, { show }: LoopbackNeeds): Promise<void> {
  await readBody(request, MAX_BATCH_BYTES, () => true);
  show({ kind: 'note', isProblem: true, text: inline(`A request was refused: ${why}.`) });
  writeAnswer(request, response, jsonAnswer(403, { success: false, code: 'foreign_origin', message: `${why}.` }));
}

/** The body is read first: a client that is still writing could not see the answer. */
async function fail(
  { request, response }: Exchange,
  failure: FailureRule['what'],
  needs: LoopbackNeeds,
): Promise<void> {
  const read = await readBody(request, MAX_BATCH_BYTES, () => true);
  const bytes = read.ok ? read.body.length : 0;
  const method = request.method ?? '';
  needs.show({ kind: 'injected', failure: String(failure), method, path: pathOf(request), bytes });
  if (failure === 'reset') request.socket.resetAndDestroy();
  // A timeout is an answer that never comes: the connection stays open until the client gives up.
  else if (failure !== 'timeout') writeAnswer(request, response, failedAnswer(failure));
}

function failedAnswer(status: number): Answer {
  if (status === 503) return laterAnswer('unavailable', 1);
  if (status === 429) return laterAnswer('rate_limited', 1);
  return jsonAnswer(status, {
    success: status < 300,
    code: 'injected',
    message: `listen --fail ${status} made this answer.`,
  });
}

async function answerCalls(
  request: IncomingMessage,
  needs: LoopbackNeeds,
  hear: ReturnType<typeof openLoopback>['hear'],
): Promise<Answer> {
  const { answer, calls } = await hear(request);
  for (const call of calls) showCall(call, needs);
  if (calls.length === 0 && answer.code !== undefined) showRequest(request, answer, needs);
  return answer;
}

function showCall(call: HeardCall, { show, accepted }: LoopbackNeeds): void {
  const { bytes } = call;
  if (call.kind === 'accepted') {
    const { event, isRepeat } = call;
    const id = show({ kind: 'call', event, bytes, isRepeat });
    if (!isRepeat) accepted(event, id);
    return;
  }
  const fields: Record<string, unknown> = isRecord(call.call) ? call.call : {};
  const isBatch = call.shape === 'batch';
  const type = isBatch ? (typeof fields['type'] === 'string' ? fields['type'] : 'batch') : call.shape;
  const message = isBatch && type !== 'batch' ? `batch[${call.place}]: ${call.message}` : call.message;
  const about = { type, name: nameOf({ ...fields, type }), userId: userOf(fields), bytes };
  show({ kind: 'refused', ...about, code: call.code, message, call: call.call });
}

/** The whole request was refused before its calls were looked at. */
function showRequest(request: IncomingMessage, answer: Answer, { show }: LoopbackNeeds): void {
  const { message } = JSON.parse(String(answer.body)) as { message: string };
  const about = { type: pathOf(request).slice(1), name: '', userId: '', bytes: undefined };
  show({
    kind: 'refused',
    ...about,
    code: answer.code ?? '',
    message: `${answer.status}: ${message}`,
    call: undefined,
  });
}

async function answerOther(request: IncomingMessage, needs: LoopbackNeeds): Promise<Answer> {
  const path = pathOf(request);
  if (request.method !== 'POST') return notFound(path);
  const read = await readBody(request, MAX_BATCH_BYTES, () => true);
  if (!read.ok) return problemAnswer(read.code);
  const text = read.body.toString();
  const body = bodyOf(text);
  const headers = headersOf(request);
  if (!isRecord(body) || (typeof body['type'] !== 'string' && request.headers['webhook-id'] === undefined)) {
    const message = `No path of the collection API, and not the body of a webhook. Calls go to /v1/batch, /v1/track, …`;
    const about = { type: path.slice(0, 60), name: '', userId: '', bytes: read.body.length };
    needs.show({ kind: 'refused', ...about, code: 'not_found', message, call: body ?? text });
    return notFound(path);
  }
  const { secret } = needs.settings;
  const signed = { headers: Object.fromEntries(headers), body: text, now: new Date() };
  const signatures = secret === undefined ? [] : checkSignatures(secret, signed);
  const isValid = signatures.every(({ ok }) => ok);
  const status = isValid ? 200 : 401;
  const url = request.url ?? '/';
  needs.show({ kind: 'webhook', url, headers, text, body, bytes: read.body.length, signatures, status });
  return jsonAnswer(status, isValid ? { received: true } : { received: false, signatures });
}

function notFound(path: string): Answer {
  return jsonAnswer(404, {
    success: false,
    code: 'not_found',
    message: `millrace listen has no ${path}. Calls go to /v1/batch, /v1/track, …`,
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.push([(rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? '']);
  }
  return headers;
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

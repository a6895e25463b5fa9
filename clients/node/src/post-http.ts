import type http from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { GivingUp } from './giving-up.ts';
import type { Answer } from './judge-answer.ts';
import type { Post, PostRequest, PostSettings } from './post.ts';

/** node:http, or node:https which is the same to us. */
type HttpClient = Pick<typeof http, 'request' | 'Agent'>;

/** An answer is a few words and the refused calls of one batch; more is not from our service. */
const MAX_ANSWER_BYTES = 1_048_576;

/** Over connections that stay open between requests. */
export function openHttpPost({ url, headers, timeoutMs }: PostSettings, client: HttpClient): Post {
  const agent = new client.Agent({ keepAlive: true, maxFreeSockets: 4, scheduling: 'lifo' });
  const target = {
    agent,
    method: 'POST',
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? undefined : url.port,
    path: url.pathname + url.search,
  };

  function send(asked: PostRequest): Promise<Answer> {
    return new Promise((resolve) => {
      const request = client.request({ ...target, headers: headersOf(headers, asked) });
      settleOnce({ request, timeoutMs, giving: asked.giving }, resolve);
      endWith(request, asked.body);
    });
  }

  return { send, close: () => agent.destroy() };
}

/** Latin-1 text is bytes as they are, without a conversion, and Node sends text in one piece with the headers. */
function endWith(request: ClientRequest, body: Uint8Array | string): void {
  if (typeof body === 'string') request.end(body, Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8');
  else request.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), 'latin1');
}

function headersOf(headers: Readonly<Record<string, string>>, { body, isGzip, retryCount }: PostRequest) {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const all: Record<string, string | number> = { ...headers, 'Content-Length': length };
  if (isGzip) all['Content-Encoding'] = 'gzip';
  if (retryCount > 0) all['X-Retry-Count'] = retryCount;
  return all;
}

type Watched = { request: ClientRequest; timeoutMs: number; giving: GivingUp };

function settleOnce({ request, timeoutMs, giving }: Watched, resolve: (answer: Answer) => void): void {
  const giveUp = (error: string) => {
    settle({ error });
    request.destroy();
  };
  const abort = () => giveUp('The request was given up.');
  // Where the event loop was blocked the answer may be here already: it is read before the verdict.
  const timer = setTimeout(() => setImmediate(giveUp, `No answer within ${timeoutMs} ms.`), timeoutMs);
  // The open request keeps the process alive by itself.
  timer.unref();
  let isSettled = false;
  function settle(answer: Answer): void {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    giving.acts.delete(abort);
    resolve(answer);
  }
  giving.acts.add(abort);
  request.on('error', (error) => settle({ error: describe(error) }));
  request.on('close', () => settle({ error: 'The connection was closed before the answer.' }));
  request.on('response', (response) => readAnswer(response, settle));
  if (giving.isOver) abort();
}

function readAnswer(response: IncomingMessage, settle: (answer: Answer) => void): void {
  let body = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    body += text;
    if (body.length > MAX_ANSWER_BYTES) response.destroy();
  });
  response.on('error', (error) => settle({ error: describe(error) }));
  response.on('end', () =>
    settle({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body }),
  );
}

function describe(error: Error & { code?: string }): string {
  // A host with several addresses fails with an error that has no message of its own.
  return error.message === '' ? (error.code ?? error.name) : error.message;
}

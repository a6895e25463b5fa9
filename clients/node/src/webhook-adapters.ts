import { WebhookVerificationError } from './errors.ts';
import type { VerifyOptions } from './verify-options.ts';
import {
  type Secrets,
  verifySigned,
  verifySignedBatch,
  verifyWebhookBatch,
  type WebhookBody,
} from './verify-webhook.ts';
import type { BatchedWebhook, WebhookEvent } from './webhook-event.ts';

export interface ReceiveOptions extends VerifyOptions {
  secret: Secrets;
  /** Called with each verified event, those of a batch one after the other; the answer waits for it. If it throws, all of them come again later. */
  onEvent: (event: WebhookEvent, id: string) => void | Promise<void>;
  /** Default 1 MiB. */
  maxBodyBytes?: number | undefined;
}

const MAX_BODY_BYTES = 1_048_576;

type Reply = { status: number; body: string };

/** The event in a `fetch` Request, once its signature is known to be right. For Next.js, Hono, Workers, Deno, Bun. */
export async function verifyRequest(
  request: { headers: { get(name: string): string | null }; arrayBuffer(): Promise<ArrayBuffer> },
  secret: Secrets,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  return verifySigned(new Uint8Array(await request.arrayBuffer()), request.headers, secret, options);
}

/** The same where the destination gets batches: all its events, as verifyWebhookBatch gives them. */
export async function verifyRequestBatch(
  request: Parameters<typeof verifyRequest>[0],
  secret: Secrets,
  options: VerifyOptions = {},
): Promise<BatchedWebhook[]> {
  return verifySignedBatch(new Uint8Array(await request.arrayBuffer()), request.headers, secret, options);
}

type PlainHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** As much of a request of node:http or Express as is needed; their types need not be installed. */
export interface IncomingLike {
  headers: PlainHeaders;
  /** Where a body parser was before us. */
  body?: unknown;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}

export interface OutgoingLike {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** A listener for `createServer`, and a handler for Express, with or without a body parser before it. */
export function receiveWebhooks(options: ReceiveOptions): (request: IncomingLike, response: OutgoingLike) => void {
  return (request, response) => {
    void replyTo(request, options).then(({ status, body }) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(body);
    });
  };
}

async function replyTo(request: IncomingLike, options: ReceiveOptions): Promise<Reply> {
  try {
    const body = bodyOf(request.body) ?? (await readBody(request, options.maxBodyBytes ?? MAX_BODY_BYTES));
    return await receive(body, request.headers, options);
  } catch (error) {
    return replyToError(error);
  }
}

async function receive(body: WebhookBody, headers: PlainHeaders, options: ReceiveOptions): Promise<Reply> {
  const events = verifyWebhookBatch(body, headers, options.secret, options);
  for (const { id, event } of events) await options.onEvent(event, id);
  return { status: 200, body: '{"success":true}' };
}

/** 401 and 413 are final for the service, 500 makes it try again. */
function replyToError(error: unknown): Reply {
  if (!(error instanceof WebhookVerificationError)) {
    console.error('millrace: a webhook could not be received', error);
    return { status: 500, body: '{"success":false}' };
  }
  const { code, message } = error;
  return { status: code === 'body_too_large' ? 413 : 401, body: JSON.stringify({ success: false, code, message }) };
}

/** Express may have read the body before us. */
function bodyOf(body: unknown): WebhookBody | undefined {
  return typeof body === 'string' || (typeof body === 'object' && body !== null) ? body : undefined;
}

async function readBody(request: IncomingLike, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new WebhookVerificationError('body_too_large', `The body is over ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** As much of Fastify as the plugin needs. */
export interface FastifyLike {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown;
  post(
    path: string,
    handler: (
      request: { body: unknown; headers: PlainHeaders },
      reply: { code(status: number): { type(type: string): { send(body: string): unknown } } },
    ) => Promise<unknown>,
  ): unknown;
}

/** A Fastify plugin: `fastify.register(fastifyWebhooks, { path: '/webhooks', secret, onEvent })`. */
export async function fastifyWebhooks(
  fastify: FastifyLike,
  { path, ...options }: ReceiveOptions & { path: string },
): Promise<void> {
  const bodyLimit = options.maxBodyBytes ?? MAX_BODY_BYTES;
  // Only inside this plugin: the rest of the application keeps its own parser.
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (_, body, done) =>
    done(null, body),
  );
  fastify.post(path, async ({ body, headers }, reply) => {
    const answer = await receive(bodyOf(body) ?? '', headers, options).catch(replyToError);
    return reply.code(answer.status).type('application/json').send(answer.body);
  });
}

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export type SeenRequest = {
  path: string;
  headers: IncomingHttpHeaders;
  /** Inflated. */
  body: string;
  /** As they came, to compare tries byte for byte. */
  bytes: Buffer;
  calls: { messageId: string; type: string; event?: string; [field: string]: unknown }[];
};

/** How to answer one request; a number is a status. `reset` breaks the connection, `hang` never answers. */
export type Answering =
  | number
  | 'reset'
  | 'hang'
  | { status: number; headers?: Record<string, string>; body?: string; afterMs?: number };

export type AnswerServer = AsyncDisposable & {
  url: string;
  port: number;
  requests: SeenRequest[];
  /** Ids of all calls that were answered 200, without those that came again. */
  storedIds(): Set<string>;
};

/** A stand-in for the service, whose answers the test chooses; the number counts requests from 1. */
export async function serveAnswers(
  answer: (request: SeenRequest, number: number) => Answering = () => 200,
  port = 0,
): Promise<AnswerServer> {
  const requests: SeenRequest[] = [];
  const stored = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    see(incoming).then(
      (request) => {
        requests.push(request);
        const answering = answer(request, requests.length);
        if (statusOf(answering) === 200) for (const { messageId } of request.calls) stored.add(messageId);
        give(answering, incoming, outgoing);
      },
      () => outgoing.destroy(),
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    storedIds: () => stored,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function see(incoming: IncomingMessage): Promise<SeenRequest> {
  const bytes = await buffer(incoming);
  const body = (incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
  const { batch } = JSON.parse(body) as { batch: SeenRequest['calls'] };
  return { path: incoming.url ?? '', headers: incoming.headers, body, bytes, calls: batch };
}

function statusOf(answering: Answering): number {
  if (typeof answering === 'number') return answering;
  return typeof answering === 'object' ? answering.status : 0;
}

function give(answering: Answering, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (answering === 'hang') return;
  if (answering === 'reset') {
    incoming.socket.resetAndDestroy();
    return;
  }
  const { status, headers = {}, body, afterMs = 0 } = typeof answering === 'number' ? { status: answering } : answering;
  const end = () => {
    outgoing.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    outgoing.end(body ?? (status === 200 ? '{"success":true}' : '{"success":false}'));
  };
  if (afterMs === 0) end();
  else setTimeout(end, afterMs);
}

/** Nothing listens there, and no system hands out its port. */
export const DEAD_URL = 'http://127.0.0.1:1';

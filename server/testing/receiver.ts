/** A webhook receiver that answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

export type Received = { at: number; path: string; headers: IncomingHttpHeaders; body: string };

/** `respond` answers each request, or leaves it hanging. */
export async function openReceiver(respond: (received: Received, response: ServerResponse) => void = answer(200)) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const one = { at: Date.now(), path: request.url ?? '', headers: request.headers, body };
      received.push(one);
      respond(one, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function answer(status: number, headers: Record<string, string> = {}) {
  return (_: Received, response: ServerResponse): void => {
    response.writeHead(status, headers).end();
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export type ServerLimits = { maxConnections: number };

/**
 * An HTTP/1.1 server for the open internet. Node's own timeouts work only as often as it looks at its connections,
 * every 30 s by default: a slow client would hold its socket that long.
 */
export function createHardenedServer(
  limits: ServerLimits,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  // The latest exchange of each connection: bytes after a whole request must not cost it its answer.
  const exchanges = new WeakMap<Duplex, { request: IncomingMessage; response: ServerResponse }>();
  const leaving = new WeakSet<Duplex>();
  const server = createServer(
    {
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
      requireHostHeader: true,
      insecureHTTPParser: false,
      noDelay: true,
    },
    (request, response) => {
      exchanges.set(request.socket, { request, response });
      handle(request, response);
    },
  );
  server.maxConnections = limits.maxConnections;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (leaving.has(socket)) return;
    leaving.add(socket);
    const last = exchanges.get(socket);
    const isAnswerOwed = last?.request.complete === true && !last.response.writableFinished;
    if (isAnswerOwed) last.response.once('close', () => hangUp(socket, error.code));
    else hangUp(socket, last?.response.headersSent === true && !last.request.complete ? 'ANSWERED' : error.code);
  });
  return server;
}

const LAST_WORDS: Readonly<Record<string, string | undefined>> = {
  ANSWERED: undefined,
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

function hangUp(socket: Duplex, code = ''): void {
  const status = code in LAST_WORDS ? LAST_WORDS[code] : '400 Bad Request';
  if (socket.writable && status !== undefined) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  socket.destroy();
}

/** Requests that Node's parser accepts although a proxy could read them in another way: this prevents request smuggling. */
export function isAmbiguous(request: IncomingMessage): boolean {
  if (request.httpVersionMajor !== 1) return true;
  if (request.httpVersionMinor === 0 && request.headers['transfer-encoding'] !== undefined) return true;
  if (request.url?.startsWith('/') !== true && request.url !== '*') return true;
  return countHosts(request.rawHeaders) > 1;
}

function countHosts(rawHeaders: string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

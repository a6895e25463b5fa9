import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls';

/** One POST as its receiver saw it. */
export type RawRequest = {
  head: string;
  body: string;
  startedAt: number;
  /** When either side closed the connection that carried it. */
  closedAt: Promise<number>;
};

export type RawReceiver = AsyncDisposable & {
  port: number;
  url: string;
  received: RawRequest[];
  /** All sockets that were ever accepted. */
  sockets: Socket[];
  /** Those that got through their handshake. */
  secured: TLSSocket[];
  onConnection(greet: (socket: Socket) => void): void;
  /** Bytes that came in over plain TCP, or inside TLS. */
  bytes(): number;
};

/** Called with each complete request; `nth` counts from 1 on the connection. */
export type Behave = (socket: Socket, nth: number, request: RawRequest) => void;

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

export const ok: Behave = (socket) => void socket.write(OK);

/** A receiver that speaks bytes, not HTTP: every rude answer can be given. */
export async function openRawReceiver(
  behave: Behave,
  { host = '127.0.0.1', port: wantedPort = 0, tls }: { host?: string; port?: number; tls?: TlsOptions } = {},
): Promise<RawReceiver> {
  const received: RawRequest[] = [];
  const sockets: Socket[] = [];
  const secured: TLSSocket[] = [];
  let bytes = 0;
  const serve = (socket: Socket): void => {
    if (socket instanceof TLSSocket) secured.push(socket);
    socket.on('data', (chunk) => (bytes += chunk.length));
    readRequests(socket, (request, nth) => {
      received.push(request);
      behave(socket, nth, request);
    });
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('connection', (socket) => sockets.push(socket.on('error', () => undefined)));
  server.on('tlsClientError', () => undefined);
  server.listen(wantedPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const literal = host.includes(':') ? `[${host}]` : host;
  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://${literal}:${port}/hook`,
    received,
    sockets,
    secured,
    onConnection: (greet) => void server.on('connection', greet),
    bytes: () => bytes,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function readRequests(socket: Socket, onRequest: (request: RawRequest, nth: number) => void): void {
  const closed = Promise.withResolvers<number>();
  let text = '';
  let nth = 0;
  let startedAt = 0;
  socket.on('error', () => undefined);
  socket.once('close', () => closed.resolve(performance.now()));
  socket.on('data', (chunk: Buffer) => {
    if (text === '') startedAt = performance.now();
    text += chunk.toString('latin1');
    for (let end = endOf(text); end !== undefined; end = endOf(text)) {
      const [head = '', body = ''] = text.slice(0, end).split(/\r\n\r\n([^]*)/);
      text = text.slice(end);
      onRequest({ head, body, startedAt, closedAt: closed.promise }, ++nth);
    }
  });
}

function endOf(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const end = head + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length >= end ? end : undefined;
}

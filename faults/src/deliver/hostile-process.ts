/** Receivers that attack the client that posts to them, each on a port of its own, in a process whose CPU is theirs alone. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { HOSTILITIES, type Hostility } from './hostilities.ts';

/** The certificate is that of the one that speaks TLS. */
export type HostileOrder = { key: string; cert: string };
export type HostileWord = { ports: Record<Hostility, number> };

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
/** Sixteen times 64 MB of zeros. */
const BOMB = Buffer.concat(Array.from<Buffer>({ length: 16 }).fill(gzipSync(Buffer.alloc(67_108_864))));
const BOMB_HEAD = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`;
const DRIP_MS = 10;

let resets = 0;

/** Called with every request that has come. */
const ANSWERS: Record<Hostility, (socket: Socket) => void> = {
  'endless-1xx': pour('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  'one-byte-chunks': pour(CHUNKED, '1\r\nx\r\n'),
  'endless-headers': pour('HTTP/1.1 200 OK\r\n', 'x: y\r\n'),
  'endless-body': pour('HTTP/1.1 200 OK\r\n\r\n', 'y'),
  'slow-drip': drip,
  'reset-at-every-byte': reset,
  'pipelined-answers': pour('', OK),
  'gzip-bomb': (socket) => {
    socket.write(BOMB_HEAD);
    socket.write(BOMB);
  },
  'tls-renegotiation': renegotiate,
};

function pour(head: string, part: string): (socket: Socket) => void {
  const parts = Buffer.from(part.repeat(Math.ceil(65_536 / part.length)));
  return (socket) => {
    const go = (): void => {
      if (!socket.destroyed) socket.write(parts, () => setImmediate(go));
    };
    socket.write(head);
    go();
  };
}

function drip(socket: Socket): void {
  const text = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}`;
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(at++)), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

/** Ends one byte later each time, so that in the end every byte of the answer was the last one. */
function reset(socket: Socket): void {
  resets += 1;
  socket.write(OK.slice(0, resets % OK.length), () => setImmediate(() => socket.resetAndDestroy()));
}

function renegotiate(socket: Socket): void {
  if (socket.destroyed || !(socket instanceof TLSSocket)) return;
  socket.renegotiate({}, () => setImmediate(renegotiate, socket));
}

async function open(hostility: Hostility, order: HostileOrder): Promise<[Hostility, number]> {
  const serve = (socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('\r\n\r\n')) ANSWERS[hostility](socket);
    });
  };
  const isTls = hostility === 'tls-renegotiation';
  const server: Server = isTls ? createTlsServer({ ...order, maxVersion: 'TLSv1.2' }, serve) : createServer(serve);
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return [hostility, (server.address() as AddressInfo).port];
}

process.once('message', (order: HostileOrder) => {
  void Promise.all(HOSTILITIES.map((hostility) => open(hostility, order))).then((ports) =>
    process.send?.({ ports: Object.fromEntries(ports) }),
  );
});
process.once('disconnect', () => process.exit(0));

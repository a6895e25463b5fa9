/** The receivers behind the demo's destinations, on loopback: each has its own port, as separate systems would. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { verifyBody } from '@millrace/contract';
import { selfSigned } from './self-signed.ts';
import type { ReceiverName } from './shop-plan.ts';

export const SHARED_SECRET = 'fernhill-shared-secret';
const HOST = '127.0.0.1';
/** The same ports at each start, so that a second start finds its destinations unchanged; a port in use is replaced by a free one. */
const PORTS: Readonly<Record<ReceiverName, number>> = {
  crm: 8_101,
  erp: 8_102,
  'erp-backup': 8_103,
  email: 8_104,
  fraud: 8_105,
  warehouse: 8_106,
  analytics: 8_107,
};
const BUSY_MS = 10_000;
/** How many seconds of calls the warehouse takes before it is busy. */
const CALM_SECONDS = 8;

export type ShopReceivers = AsyncDisposable & { urls: Readonly<Record<ReceiverName, string>> };

type Reply = { status: number; afterMs: number; headers?: Record<string, string>; body?: string };
type Respond = (request: IncomingMessage, body: string) => Reply;

export async function openShopReceivers(callsPerSecond: number): Promise<ShopReceivers> {
  await using opening = new AsyncDisposableStack();
  const replies = repliesFor(callsPerSecond);
  const urls: Partial<Record<ReceiverName, string>> = {};
  for (const [name, respond] of Object.entries(replies) as [ReceiverName, Respond][]) {
    const isTls = name === 'erp-backup';
    const server = isTls ? createTlsServer(selfSigned('erp-backup.fernhill.example', Date.now())) : createServer();
    opening.defer(() => close(server));
    answerWith(server, respond);
    const port = await listen(server, PORTS[name]);
    urls[name] = `${isTls ? 'https' : 'http'}://${HOST}:${port}/${name}/events`;
  }
  const open = opening.move();
  return { urls: urls as ShopReceivers['urls'], [Symbol.asyncDispose]: () => open.disposeAsync() };
}

function repliesFor(callsPerSecond: number): Record<ReceiverName, Respond> {
  return {
    crm: takeSigned,
    erp: () => ({ status: 503, afterMs: 30, body: '{"error":"the order database is being moved"}' }),
    // No client trusts its certificate, so no request arrives.
    'erp-backup': () => ({ status: 200, afterMs: 0 }),
    email: () => ({ status: 401, afterMs: 15, body: '{"error":"invalid_api_key","message":"This key was replaced."}' }),
    fraud: () => ({ status: 200, afterMs: 80 }),
    warehouse: respondInBursts(Math.ceil(callsPerSecond * CALM_SECONDS)),
    analytics: () => ({ status: 204, afterMs: 5 }),
  };
}

const takeSigned: Respond = ({ headers }, body) => {
  const signature = headers['x-signature'];
  const isVerified = typeof signature === 'string' && verifyBody(SHARED_SECRET, body, signature);
  return { status: isVerified ? 200 : 401, afterMs: 20 };
};

/** Takes this many events, then asks for quiet. */
function respondInBursts(most: number): Respond {
  let taken = 0;
  let busyUntil = 0;
  return () => {
    const now = Date.now();
    if (now < busyUntil) {
      const seconds = Math.ceil((busyUntil - now) / 1_000);
      return {
        status: 429,
        afterMs: 5,
        headers: { 'Retry-After': String(seconds) },
        body: '{"error":"loading a truck"}',
      };
    }
    taken += 1;
    if (taken % most === 0) busyUntil = now + BUSY_MS;
    return { status: 202, afterMs: 250 };
  };
}

function answerWith(server: Server, respond: Respond): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    text(request).then(
      (body) => {
        const { status, afterMs, headers, body: reply } = respond(request, body);
        setTimeout(() => response.writeHead(status, headers).end(reply), afterMs);
      },
      () => response.destroy(),
    );
  });
}

async function listen(server: Server, wanted: number): Promise<number> {
  const isTaken = await listensOn(server, wanted).then(
    () => false,
    () => true,
  );
  if (isTaken) await listensOn(server, 0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric port');
  return address.port;
}

/** `once` rejects with the server's error. */
async function listensOn(server: Server, port: number): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, HOST);
  await listening;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/**
 * One socket with undici's parser on it. A connection is open and idle (`sending` undefined), carries one POST (`send` until
 * `onAnswer`, `onEnough`, `onFlood` or `onFailure`), and is closed (`onClose`). The callbacks move it on; `assign-connection.ts`
 * has them.
 */
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { ANSWER_LIMITS, limitReads, narrowBudget, newBudget } from './limit-answer.ts';
import type { Connection, Pool, Sending } from './model.ts';
import { keepChunk } from './sending.ts';

export type ConnectionNeeds = {
  pool: Pool;
  address: string;
  keepAliveMs: number;
  now: () => number;
  /** The response is complete. */
  onAnswer(connection: Connection): void;
  /** The response is longer than what is kept of it. */
  onEnough(connection: Connection): void;
  /** The receiver sends more than an answer may have; the detail says of what. */
  onFlood(connection: Connection, detail: string): void;
  onFailure(connection: Connection, error: Error): void;
  onClose(connection: Connection): void;
};

/**
 * A Client for each socket, not undici's Pool: a Pool does not tell which socket a POST takes or whether it was used before, and
 * cannot take back a POST that waits for one. The handler belongs to the connection, so a POST makes no closures.
 */
export function openConnection(socket: Socket, needs: ConnectionNeeds): Connection {
  const { pool, address, keepAliveMs } = needs;
  const client = new Client(pool.origin, {
    connect: handOver(socket),
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: 16_384,
    // The deadline of the POST covers both; these would be prolonged by every 1xx and every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    keepAliveTimeoutThreshold: 1_000,
  });
  const budget = newBudget();
  const connection: Connection = { pool, socket, client, handler: {}, address, uses: 0, sending: undefined, budget };
  limitReads(
    socket,
    () => connection.budget,
    (detail) => needs.onFlood(connection, detail),
  );
  connection.handler = makeHandler(connection, needs);
  socket.once('close', () => needs.onClose(connection));
  return connection;
}

export function send(connection: Connection, sending: Sending): void {
  const { post, target } = sending;
  connection.sending = sending;
  connection.budget = newBudget();
  sending.connection = connection;
  sending.address = connection.address;
  sending.stage = 'sent';
  connection.client.dispatch(
    { method: post.method ?? 'POST', path: target.path, headers: post.headers, body: post.body },
    connection.handler,
  );
}

/** Says that the connection was lost before a byte of the POST was written to it. */
export const GONE = Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });

/** Gives undici the socket that we opened and checked. It asks again when that is closed, and then gets no other. */
function handOver(socket: Socket): buildConnector.connector {
  let isGiven = false;
  return (_options, callback) => {
    // undici loses the request when it is called back at once.
    if (isGiven) queueMicrotask(() => callback(GONE, null));
    else queueMicrotask(() => callback(null, socket));
    isGiven = true;
  };
}

function makeHandler(connection: Connection, needs: ConnectionNeeds): Dispatcher.DispatchHandler {
  return {
    onRequestStart() {},
    onResponseStarted() {
      const { sending } = connection;
      if (sending !== undefined && sending.firstByteAt === 0) sending.firstByteAt = needs.now();
    },
    onResponseStart(_controller, status, headers) {
      const { sending } = connection;
      if (sending === undefined) return;
      if (status < 200) return countInformational(connection, needs);
      narrowBudget(connection.budget);
      sending.status = status;
      const retryAfter = headers['retry-after'];
      sending.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
      const { connection: persistence } = headers;
      sending.isClosing = persistence !== undefined && /\bclose\b/i.test(String(persistence));
    },
    onResponseData(_controller, chunk) {
      const { sending, budget } = connection;
      if (sending === undefined) return;
      budget.pieces -= 1;
      if (!keepChunk(sending, chunk) || budget.pieces === 0) needs.onEnough(connection);
    },
    onResponseEnd: () => needs.onAnswer(connection),
    onResponseError: (_controller, error) => needs.onFailure(connection, error),
  };
}

function countInformational(connection: Connection, { onFlood }: ConnectionNeeds): void {
  connection.budget.informational -= 1;
  if (connection.budget.informational < 0)
    onFlood(connection, `more than ${ANSWER_LIMITS.informational} answers of 1xx`);
}

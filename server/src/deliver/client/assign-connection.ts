/**
 * Brings POSTs onto connections. A POST is waiting (in its pool), dialing (it opens a connection), sent, and settled; `timeOut`
 * settles it from any of them. A connection is dialed, carries one POST at a time, is idle between them, and closed. The pacer
 * decides when a pool may dial; the parser's callbacks move connections on.
 */
import type { Socket } from 'node:net';
import { classifyError, errorDetail } from './classify-error.ts';
import { GONE, openConnection, send } from './connection.ts';
import type { Connection, Pool, Sending } from './model.ts';
import type { Deadlines } from './deadlines.ts';
import { type Dialed, type DialNeeds, dial } from './dial.ts';
import type { ErrorClass } from './error-classes.ts';
import type { Growth } from './grow.ts';
import type { Idle } from './idle.ts';
import type { Pacer } from './pace.ts';
import type { Pools } from './pools.ts';
import { errorAnswer, statusAnswer } from './sending.ts';

/** Everything that the POSTs of one client share. */
export type Traffic = {
  pools: Pools;
  pacer: Pacer<Pool>;
  dialNeeds: DialNeeds;
  growth: Growth;
  deadlines: Deadlines;
  idle: Idle;
  timeoutMs: number;
  keepAliveMs: number;
  maxConnectionsPerOrigin: number;
  now: () => number;
};

/** Brings a POST onto a connection: an idle one, or the next one that is free or can be opened. */
export function assignConnection(traffic: Traffic, sending: Sending): void {
  const connection = takeIdle(traffic, sending.pool);
  if (connection !== undefined) return send(connection, sending);
  sending.pool.waiting.push(sending);
  askForDials(traffic, sending.pool);
}

/** The pacer allows one more connection. False when no POST needs it any more. */
export function admitDial(traffic: Traffic, pool: Pool): boolean {
  pool.inLine -= 1;
  const sending = nextWaiting(traffic, pool);
  if (sending === undefined) return false;
  startDial(traffic, sending);
  return true;
}

/** Closes the connection or dial of the POST as well, so that it ends at the receiver too. */
export function timeOut(traffic: Traffic, sending: Sending): void {
  const { stage, dial, status, pool } = sending;
  if (status === 0 && stage !== 'waiting') pool.standing = 'failing';
  const within = `within ${traffic.timeoutMs / 1_000} s`;
  if (stage === 'sent' && status !== 0) settleStatus(traffic, sending);
  else if (stage === 'sent') settleError(traffic, sending, 'timeout', `no answer ${within}`);
  else if (dial !== undefined) settleError(traffic, sending, 'timeout', `still ${dial.waitsFor()}, not done ${within}`);
  else settleError(traffic, sending, 'not_sent', 'its turn did not come in time');
  letGo(traffic, sending);
}

/** Closes the dial or connection that a settled POST still holds. */
export function letGo(traffic: Traffic, sending: Sending): void {
  const { connection, dial, pool } = sending;
  if (dial !== undefined) {
    sending.dial = undefined;
    dial.cancel();
    pool.open -= 1;
    askForDials(traffic, pool);
  }
  if (connection !== undefined) drop(connection);
  traffic.pools.tidy(pool);
}

export function settleError(traffic: Traffic, sending: Sending, errorClass: ErrorClass, detail: string): void {
  settle(traffic, sending);
  sending.resolve(errorAnswer(sending, { errorClass, detail }, traffic.now()));
}

function settleStatus(traffic: Traffic, sending: Sending): void {
  sending.pool.standing = sending.status < 500 ? 'works' : 'failing';
  settle(traffic, sending);
  sending.resolve(statusAnswer(sending, traffic.now()));
}

function settle(traffic: Traffic, sending: Sending): void {
  sending.stage = 'settled';
  sending.pool.unanswered -= 1;
  traffic.deadlines.remove(sending);
  traffic.pools.tidy(sending.pool);
}

function takeIdle(traffic: Traffic, pool: Pool): Connection | undefined {
  for (let connection = pool.idle.pop(); connection !== undefined; connection = pool.idle.pop()) {
    traffic.idle.delete(connection);
    // undici closes the socket of an answer with `Connection: close` just after it told us of the answer.
    if (!connection.socket.destroyed) return connection;
  }
  return undefined;
}

function askForDials(traffic: Traffic, pool: Pool): void {
  if (pool.waiting.length === 0) return;
  if (pool.open === 0) askForMore(traffic, pool, 1);
  if (pool.waiting.length > 0) traffic.growth.watch(pool);
}

export function askForMore(traffic: Traffic, pool: Pool, most: number): void {
  const wanted = Math.min(most, pool.waiting.length, traffic.maxConnectionsPerOrigin - pool.open);
  // Counted here, because the pacer may let some of them in at once.
  for (let asked = pool.inLine; asked < wanted; asked += 1) {
    pool.inLine += 1;
    traffic.pacer.ask(pool, pool.standing);
  }
}

/**
 * The first POST that still waits. One that spent half of its time waiting for a connection is given back unsent: else the
 * receiver would be blamed for our slowness.
 */
function nextWaiting(traffic: Traffic, pool: Pool): Sending | undefined {
  const latest = traffic.now() - traffic.timeoutMs / 2;
  for (let sending = pool.waiting.shift(); sending !== undefined; sending = pool.waiting.shift()) {
    if (sending.stage !== 'waiting') continue;
    if (sending.startedAt > latest) return sending;
    settleError(traffic, sending, 'not_sent', 'its turn did not come in time');
  }
  return undefined;
}

function startDial(traffic: Traffic, sending: Sending): void {
  sending.stage = 'dialing';
  sending.pool.open += 1;
  const dialing = dial(sending.target, traffic.dialNeeds);
  sending.dial = dialing;
  void dialing.done.then((dialed) => {
    // Cancelled meanwhile: `letGo` has counted it out.
    if (sending.dial !== dialing) return;
    sending.dial = undefined;
    sending.dialed = dialed.timings;
    if (dialed.ok) send(connect(traffic, sending.pool, dialed), sending);
    else failToDial(traffic, sending, dialed);
  });
}

function failToDial(traffic: Traffic, sending: Sending, failure: Extract<Dialed, { ok: false }>): void {
  const { pool } = sending;
  sending.address = failure.address;
  pool.open -= 1;
  pool.standing = 'failing';
  settleError(traffic, sending, failure.errorClass, failure.detail);
  askForDials(traffic, pool);
}

function connect(traffic: Traffic, pool: Pool, { socket, address }: { socket: Socket; address: string }): Connection {
  return openConnection(socket, {
    pool,
    address,
    keepAliveMs: traffic.keepAliveMs,
    now: traffic.now,
    onAnswer: (connection) => finish(traffic, connection),
    onEnough: (connection) => {
      const { sending } = connection;
      if (sending !== undefined) settleStatus(traffic, sending);
      drop(connection);
    },
    onFlood: (connection, detail) => cutOff(traffic, connection, detail),
    onFailure: (connection, error) => fail(traffic, connection, error),
    onClose: (connection) => forget(traffic, connection),
  });
}

/** A status that was read counts, as if the body had ended there. */
function cutOff(traffic: Traffic, connection: Connection, detail: string): void {
  const { sending } = connection;
  drop(connection);
  if (sending === undefined) return;
  if (sending.status !== 0) return settleStatus(traffic, sending);
  sending.pool.standing = 'failing';
  settleError(traffic, sending, 'answer_too_large', detail);
}

function finish(traffic: Traffic, connection: Connection): void {
  const { sending, pool } = connection;
  if (sending === undefined) return;
  connection.sending = undefined;
  connection.uses += 1;
  settleStatus(traffic, sending);
  pool.idle.push(connection);
  traffic.idle.add(connection);
  if (pool.waiting.length > 0) queueMicrotask(() => serveWaiting(traffic, pool));
}

function serveWaiting(traffic: Traffic, pool: Pool): void {
  const connection = takeIdle(traffic, pool);
  if (connection === undefined) return;
  const sending = nextWaiting(traffic, pool);
  if (sending !== undefined) return send(connection, sending);
  pool.idle.push(connection);
  traffic.idle.add(connection);
}

function fail(traffic: Traffic, connection: Connection, error: Error): void {
  const { sending } = connection;
  if (sending === undefined) return;
  const errorClass = classifyError(error);
  connection.sending = undefined;
  drop(connection);
  if (sending.status !== 0) return settleStatus(traffic, sending);
  if (!sending.hasRetried && (error === GONE || isStale(connection, sending, errorClass))) {
    sending.hasRetried = true;
    sending.connection = undefined;
    traffic.pacer.overdraw();
    return startDial(traffic, sending);
  }
  sending.pool.standing = 'failing';
  settleError(traffic, sending, errorClass, errorDetail(error));
}

/**
 * The receiver closed a connection that had been idle while our POST was on its way: no byte came back, so the same POST goes
 * out once more, over a new connection. On a new connection the same sign means that the receiver may have read the POST.
 */
function isStale(connection: Connection, sending: Sending, errorClass: ErrorClass): boolean {
  return connection.uses > 0 && sending.firstByteAt === 0 && errorClass === 'connection_reset';
}

export function drop(connection: Connection): void {
  connection.sending = undefined;
  connection.socket.destroy();
}

function forget(traffic: Traffic, connection: Connection): void {
  const { pool } = connection;
  pool.open -= 1;
  traffic.idle.delete(connection);
  const at = pool.idle.indexOf(connection);
  if (at !== -1) pool.idle.splice(at, 1);
  askForDials(traffic, pool);
  traffic.pools.tidy(pool);
}

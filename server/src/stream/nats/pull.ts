/**
 * Takes messages from a shared consumer until it is disposed. A pull asks (the server holds its request and sends messages as they come), or
 * it rests: without room, after trouble, and while there is no connection. The last message of a request, its end and the end of a rest
 * make it ask again; silence and a reconnect do so at once, because the server may have forgotten the request.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsMsg } from '@nats-io/jetstream';
import type { Msg, Subscription } from '@nats-io/nats-core';
import type { Logger } from '../../log.ts';
import type { Connection } from './connect-nats.ts';

/** A message of a consumer whose messages are acknowledged, with the names of the library. */
export type PulledMessage = Pick<
  JsMsg,
  'subject' | 'data' | 'headers' | 'seq' | 'redelivered' | 'timestampNanos' | 'ack' | 'nak' | 'working'
> & { stream: string };

export type PullNeeds = {
  connection: Connection;
  stream: string;
  consumer: string;
  /** How many messages are wanted now. */
  room(): number;
  taken(message: PulledMessage): void;
  log: Logger;
};

/** How long the server holds a request for messages that do not come, and after which silence the request counts as lost. */
type Patience = { expiresMs: number; heartbeatMs?: number; lostAfterMs: number };

/**
 * In a cluster the consumer may have another leader from one moment to the next, and the server that died says nothing. Asking about the
 * consumer takes up to five seconds, in which a new leader would have nothing to do. So the request is short.
 */
const CLUSTERED: Patience = { expiresMs: 1_000, lostAfterMs: 1_500 };
/** A single server is there, or the connection to it is lost and made again: the heartbeats are only for what we did not think of. */
const ALONE: Patience = { expiresMs: 60_000, heartbeatMs: 10_000, lostAfterMs: 21_000 };
const NO_ROOM_PAUSE_MS = 10;
const TROUBLE_PAUSE_MS = 250;
const nanos = (ms: number): number => ms * 1_000_000;

/**
 * Never more than there is room for: a pulled message that waits in memory is kept from other processes, after a crash for the
 * whole of the consumer's ack_wait.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function pull({ connection, stream, consumer, room, taken, log }: PullNeeds): AsyncDisposable {
  const { nc } = connection;
  const inbox = connection.inbox();
  const isClustered = () => nc.info?.cluster !== undefined;
  /** Messages that may still come for the last request, and its number. */
  let asked = 0;
  let request = 0;
  let heardAt = 0;
  let patience = CLUSTERED;
  let timer: NodeJS.Timeout | undefined;
  let isTroubled = false;
  let isStopping = false;
  const answered = Promise.withResolvers<void>();
  let subscription = subscribe();

  function subscribe(): Subscription {
    return nc.subscribe(`${inbox}.*`, {
      callback(error, message) {
        if (error !== null) trouble(error.message);
        else if (message.subject.startsWith(inbox)) hearStatus(message);
        else take(message);
      },
    });
  }

  function rest(ms: number): void {
    asked = 0;
    clearTimeout(timer);
    if (isStopping) answered.resolve();
    else timer = setTimeout(ask, ms);
  }

  function ask(): void {
    // The reconnect asks.
    if (!connection.isConnected() && !isStopping) return;
    const most = room();
    if (isStopping || most < 1) return rest(NO_ROOM_PAUSE_MS);
    if (subscription.isClosed()) subscription = subscribe();
    patience = isClustered() ? CLUSTERED : ALONE;
    const { expiresMs, heartbeatMs } = patience;
    const wanted = {
      batch: most,
      expires: nanos(expiresMs),
      ...(heartbeatMs === undefined ? {} : { idle_heartbeat: nanos(heartbeatMs) }),
    };
    asked = most;
    request += 1;
    heardAt = performance.now();
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(wanted), {
      reply: `${inbox}.${request}`,
    });
    waitForSign(patience.lostAfterMs);
  }

  function waitForSign(ms: number): void {
    clearTimeout(timer);
    // Only after the messages that came meanwhile are read, in a process that was busy for so long.
    timer = setTimeout(() => setImmediate(lookForSign, request), ms);
  }

  function lookForSign(of: number): void {
    if (of !== request || asked <= 0) return;
    const restMs = heardAt + patience.lostAfterMs - performance.now();
    if (restMs > 0) waitForSign(restMs);
    else askAgain();
  }

  function askAgain(): void {
    asked = 0;
    if (isStopping) answered.resolve();
    else ask();
  }

  function take(message: Msg): void {
    heardAt = performance.now();
    isTroubled = false;
    asked -= 1;
    const pulled = pulledMessage(message);
    // It came while we were leaving: another process takes it at once.
    if (isStopping) pulled.nak();
    else taken(pulled);
    if (asked === 0) askAgain();
  }

  /** The end of the request, a heartbeat, or trouble. */
  function hearStatus(message: Msg): void {
    if (message.subject !== `${inbox}.${request}` || asked <= 0) return;
    const code = message.headers?.code ?? 0;
    const description = message.headers?.description ?? '';
    heardAt = performance.now();
    if (code === 100) {
      isTroubled = false;
      return;
    }
    const isEnd = code === 404 || code === 408 || (code === 409 && /batch completed/i.test(description));
    if (!isEnd) return trouble(`${code} ${description}`);
    isTroubled = false;
    askAgain();
  }

  function trouble(error: string): void {
    if (!isTroubled && !isStopping) log.warn({ stream, error }, 'pull.failed');
    isTroubled = true;
    rest(TROUBLE_PAUSE_MS);
  }

  const stopListening = connection.onReconnect(askAgain);
  ask();
  return {
    async [Symbol.asyncDispose]() {
      isStopping = true;
      stopListening();
      // Another server of a cluster may still send messages after ours has heard that we leave.
      if (asked > 0 && connection.isConnected() && isClustered()) await answered.promise;
      clearTimeout(timer);
      if (connection.isConnected() && !subscription.isClosed())
        // It is rejected when the connection is lost meanwhile.
        await Promise.race([
          subscription.drain().catch(() => undefined),
          sleep(TROUBLE_PAUSE_MS * 4, undefined, { ref: false }),
        ]);
      else subscription.unsubscribe();
    },
  };
}

type ReplyFacts = {
  stream: string;
  deliveries: number;
  sequence: number;
  delivered: number;
  storedNanos: string;
  pending: number;
};

/** `$JS.ACK.(domain.account.)stream.consumer.count.sequence.delivered.nanoseconds.pending(.token)` */
export function readReply(reply: string): ReplyFacts {
  const tokens = reply.split('.');
  const first = tokens.length === 9 ? 2 : 4;
  const [stream = '', , count, sequence, delivered, storedNanos = '0', pending] = tokens.slice(first, first + 7);
  return {
    stream,
    deliveries: Number(count),
    sequence: Number(sequence),
    delivered: Number(delivered),
    storedNanos,
    pending: Number(pending),
  };
}

const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');
const NAK = Buffer.from('-NAK');

function pulledMessage(message: Msg): PulledMessage {
  const { stream, deliveries, sequence, storedNanos } = readReply(message.reply ?? '');
  let isAnswered = false;
  const answer = (payload: Uint8Array) => {
    if (isAnswered) return;
    isAnswered = payload !== WORKING;
    message.respond(payload);
  };
  return {
    stream,
    subject: message.subject,
    data: message.data,
    headers: message.headers,
    seq: sequence,
    redelivered: deliveries > 1,
    timestampNanos: BigInt(storedNanos),
    ack: () => answer(ACK),
    nak: (delayMs) =>
      answer(delayMs === undefined ? NAK : Buffer.from(`-NAK ${JSON.stringify({ delay: delayMs * 1_000_000 })}`)),
    working: () => answer(WORKING),
  };
}

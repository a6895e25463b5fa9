/**
 * Reads a stream from a sequence on, in its order and without a loss, through a consumer of its own that needs no acknowledgements.
 *
 * A follower is opening (it makes a consumer from the first message that it has not got), reading (the server sends what the
 * last pull asked for), or anew (the stream is not the one that it began with; it reads no more). A gap in the consumer's own
 * count, silence, a reconnect and every trouble that the server tells take it from reading back to opening.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { type Msg, type MsgHdrs, nuid, type Subscription } from '@nats-io/nats-core';
import type { Logger } from '../../log.ts';
import type { Connection } from './connect-nats.ts';
import { readReply } from './pull.ts';
import { isSamePlace, type StreamPlace } from './stream-place.ts';
import { every } from '../../pause.ts';

export type FollowedMessage = {
  sequence: number;
  /** In milliseconds, by the clock of the server that leads the stream. */
  storedAt: number;
  /** How many more were in the stream behind it. */
  pending: number;
  subject: string;
  headers: MsgHdrs | undefined;
  data: Uint8Array;
};

export type Follower = AsyncDisposable & {
  /** The next message, without removing it. */
  head(): FollowedMessage | undefined;
  shift(): FollowedMessage | undefined;
  /** Resolves when there is a message, when the stream was made anew, or when the time is over. */
  arrival(waitMs: number): Promise<void>;
  isAnew(): boolean;
  /** When the server last said that there is nothing more, by the monotonic clock; undefined while there is, or it is not known. */
  endSeenMs(): number | undefined;
};

export type FollowNeeds = {
  connection: Connection;
  stream: string;
  /** The message before the first one that is wanted. */
  after: StreamPlace;
  log: Logger;
};

/** Held messages and those that were asked for; at least one message has to fit, however large. */
const MOST = { messages: 2_000, bytes: 8_388_608 };
const DEFAULT_MAX_PAYLOAD = 1_048_576;
/** With a heartbeat of the consumer in between: three that do not come mean that it is gone. */
const PULL_EXPIRES_MS = 10_000;
const HEARTBEAT_MS = 500;
const SILENCE_MS = HEARTBEAT_MS * 3 + 250;
const LOOK_MS = 100;
const REOPEN_MS = { first: 50, most: 1_000 };
/** The server drops the consumer of a process that is gone after this time. */
const INACTIVE_MS = 10_000;
const nanos = (ms: number): number => ms * 1_000_000;

type Reading = { consumer: string; subscription: Subscription; delivered: number; asked: number; heardAt: number };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function followStream({ connection, stream, after, log }: FollowNeeds): Follower {
  const { nc } = connection;
  const life = new AbortController();
  const { signal } = life;
  const held: FollowedMessage[] = [];
  let heldBytes = 0;
  /** The last message that came in, and how many more were behind it; the consumer tells that at its first heartbeat too. */
  let last = after;
  let behind: number | undefined;
  let reading: Reading | undefined;
  let isAnew = false;
  let isTroubled = false;
  let lost = Promise.withResolvers<void>();
  let arrived = Promise.withResolvers<void>();

  function lose(why: string): void {
    if (reading === undefined) return;
    reading.subscription.unsubscribe();
    if (!signal.aborted) log.debug({ stream, why }, 'follow.lost');
    reading = undefined;
    behind = undefined;
    lost.resolve();
  }

  async function open(): Promise<void> {
    const manager = await jetstreamManager(nc, { checkAPI: false, timeout: 2_000 });
    const consumer = `follow-${nuid.next()}`;
    await addConsumer(manager, { stream, consumer, from: last.sequence + 1 });
    // After the consumer is made: it is on the stream that is compared, or gone with it.
    if (!(await isSamePlace(manager, stream, last))) {
      isAnew = true;
      arrived.resolve();
      return;
    }
    if (signal.aborted) return;
    lost = Promise.withResolvers();
    const inbox = connection.inbox();
    const opened: Omit<Reading, 'subscription'> = { consumer, delivered: 0, asked: 0, heardAt: performance.now() };
    const subscription = nc.subscribe(inbox, {
      callback(error, message) {
        if (reading?.subscription !== subscription) return;
        if (error !== null) lose(error.message);
        else if (message.subject === inbox) hearStatus(message);
        else take(message);
      },
    });
    reading = { ...opened, subscription };
    pullMore();
  }

  function pullMore(): void {
    if (reading === undefined || reading.asked > 0 || !connection.isConnected()) return;
    if (held.length > MOST.messages / 2 || heldBytes > MOST.bytes / 2) return;
    reading.asked = MOST.messages - held.length;
    reading.heardAt = performance.now();
    const maxBytes = Math.max(MOST.bytes - heldBytes, 2 * (nc.info?.max_payload ?? DEFAULT_MAX_PAYLOAD));
    const asked = {
      batch: reading.asked,
      max_bytes: maxBytes,
      expires: nanos(PULL_EXPIRES_MS),
      idle_heartbeat: nanos(HEARTBEAT_MS),
    };
    const reply = reading.subscription.getSubject();
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${reading.consumer}`, JSON.stringify(asked), { reply });
  }

  /** The end of a pull (its time is over, or the next message is too large for the rest of it), a heartbeat, or trouble. */
  function hearStatus(message: Msg): void {
    const code = message.headers?.code ?? 0;
    const description = message.headers?.description ?? '';
    if (reading !== undefined) reading.heardAt = performance.now();
    if (code === 100) {
      // It comes only when there was nothing to send for a while.
      behind = 0;
      return;
    }
    const isEnd = code === 404 || code === 408 || (code === 409 && /max ?bytes|batch completed/i.test(description));
    if (!isEnd) {
      lose(`${code} ${description}`);
      return;
    }
    if (reading !== undefined) reading.asked = 0;
    pullMore();
  }

  function take(message: Msg): void {
    if (reading === undefined) return;
    const { sequence, delivered, storedNanos, pending } = readReply(message.reply ?? '');
    const storedAt = Math.floor(Number(storedNanos) / 1e6);
    if (delivered !== reading.delivered + 1 || sequence <= last.sequence) {
      lose(`message ${delivered} of the consumer came after ${reading.delivered}`);
      return;
    }
    reading.delivered = delivered;
    reading.heardAt = performance.now();
    reading.asked -= 1;
    last = { ...last, sequence, storedAt };
    behind = pending;
    held.push({ sequence, storedAt, pending, subject: message.subject, headers: message.headers, data: message.data });
    heldBytes += message.data.length;
    arrived.resolve();
    pullMore();
  }

  async function follow(): Promise<void> {
    let waitMs = REOPEN_MS.first;
    while (!signal.aborted && !isAnew) {
      try {
        await open();
        if (isTroubled) log.info({ stream }, 'follow.recovered');
        isTroubled = false;
        waitMs = REOPEN_MS.first;
      } catch (error) {
        if (!isTroubled && !signal.aborted) log.warn({ stream, error: String(error) }, 'follow.failed');
        isTroubled = true;
        waitMs = Math.min(waitMs * 2, REOPEN_MS.most);
      }
      if (reading !== undefined) await lost.promise;
      if (!isAnew) await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  // After the poll phase: a process that stood still has read what came meanwhile by then.
  const looker = every(LOOK_MS, () => setImmediate(look));
  function look(): void {
    const isSilent = reading !== undefined && reading.asked > 0 && performance.now() - reading.heardAt > SILENCE_MS;
    if (isSilent) lose(`nothing came for ${SILENCE_MS} ms`);
    else pullMore();
  }
  const stopListening = connection.onReconnect(() => lose('reconnected'));
  const following = follow();

  return {
    head: () => held[0],
    shift() {
      const message = held.shift();
      heldBytes -= message?.data.length ?? 0;
      if (held.length === 0 && !isAnew) arrived = Promise.withResolvers();
      pullMore();
      return message;
    },
    async arrival(waitMs) {
      if (held.length > 0 || isAnew) return;
      const timer = setTimeout(() => arrived.resolve(), waitMs);
      await arrived.promise;
      clearTimeout(timer);
      if (held.length === 0 && !isAnew) arrived = Promise.withResolvers();
    },
    isAnew: () => isAnew && held.length === 0,
    endSeenMs: () => (held.length === 0 && behind === 0 && reading !== undefined ? reading.heardAt : undefined),
    async [Symbol.asyncDispose]() {
      life.abort();
      looker[Symbol.dispose]();
      stopListening();
      lose('closed');
      lost.resolve();
      arrived.resolve();
      await following;
    },
  };
}

type NewConsumer = { stream: string; consumer: string; from: number };

/** In the memory of one server: if it dies, the follower makes another one. */
async function addConsumer(manager: JetStreamManager, { stream, consumer, from }: NewConsumer): Promise<void> {
  await manager.consumers.add(stream, {
    name: consumer,
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
    inactive_threshold: nanos(INACTIVE_MS),
    mem_storage: true,
    num_replicas: 1,
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type Consumer, jetstream, type JsMsg } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import type { Connection } from './connect-nats.ts';

export type PullNeeds = {
  connection: Connection;
  stream: string;
  consumer: string;
  /** How many messages are wanted now. */
  room(): number;
  taken(message: JsMsg): void;
  log: Logger;
};

/** How long the server holds a request for messages that do not come. Stopping waits for it at most. */
const EXPIRES_MS = 1_000;
/**
 * A pull whose connection broke, or whose consumer has no leader, may never end, and asking about the consumer takes up to five
 * seconds, in which a new leader would have nothing to do. So the pull is repeated after this time.
 */
const LOST_AFTER_MS = EXPIRES_MS + 500;
const NO_ROOM_PAUSE_MS = 10;
const TROUBLE_PAUSE_MS = 250;

/**
 * Takes messages from a shared consumer until disposed, never more than there is room for: a pulled message that waits in memory
 * is kept from other processes, after a crash for the whole of the consumer's ack_wait.
 */
export function pull(needs: PullNeeds): AsyncDisposable {
  const stopping = new AbortController();
  const pulling = pullOn(needs, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await pulling;
    },
  };
}

async function pullOn(needs: PullNeeds, signal: AbortSignal): Promise<void> {
  let consumer: Consumer | undefined;
  let isTroubled = false;
  while (!signal.aborted) {
    const room = needs.room();
    if (room < 1) {
      await sleep(NO_ROOM_PAUSE_MS);
      continue;
    }
    try {
      consumer ??= await findConsumer(needs);
      await pullSome(consumer, room, { ...needs, signal });
      isTroubled = false;
    } catch (error) {
      if (!isTroubled && !signal.aborted) needs.log.warn({ stream: needs.stream, error: String(error) }, 'pull.failed');
      isTroubled = true;
      await sleep(TROUBLE_PAUSE_MS);
    }
  }
}

function findConsumer({ connection, stream, consumer }: PullNeeds): Promise<Consumer> {
  return jetstream(connection.nc, { timeout: EXPIRES_MS }).consumers.get(stream, consumer);
}

async function pullSome(consumer: Consumer, most: number, needs: PullNeeds & { signal: AbortSignal }): Promise<void> {
  const messages = await consumer.fetch({ max_messages: most, expires: EXPIRES_MS });
  // Only after the messages that came meanwhile are read: a process that was busy for so long would throw them away.
  const lost = setTimeout(() => setImmediate(() => messages.stop()), LOST_AFTER_MS);
  try {
    for await (const message of messages) {
      // It came while we were leaving: another process takes it at once.
      if (needs.signal.aborted) message.nak();
      else needs.taken(message);
    }
  } finally {
    clearTimeout(lost);
  }
}

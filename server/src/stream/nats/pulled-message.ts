import type { JsMsg } from '@nats-io/jetstream';
import type { Msg } from '@nats-io/nats-core';

/** A message of a consumer whose messages are acknowledged, with the names of the library. */
export type PulledMessage = Pick<
  JsMsg,
  'subject' | 'data' | 'headers' | 'seq' | 'redelivered' | 'timestampNanos' | 'ack' | 'nak' | 'working'
> & { stream: string };

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

export function pulledMessage(message: Msg): PulledMessage {
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

/** An ordered consumer of a bucket's watch: in the memory of one server, without acknowledgements. It is gone when that server dies. */
import { type HeaderPair, matches, statusMessage, type WireMessage } from './wire.ts';
import type { StoredMessage, StoredStream } from './stored-stream.ts';

export type PushConfig = {
  name: string;
  deliver_subject: string;
  filter_subject?: string;
  deliver_policy?: string;
  opt_start_seq?: number;
};

export type PushConsumer = {
  config: PushConfig;
  /** The server that has it. */
  server: number;
  info(): object;
  /** Sends what is new. */
  pump(): void;
  beat(): void;
};

export type PushNeeds = {
  config: PushConfig;
  stream: StoredStream;
  server: number;
  send(message: WireMessage): void;
  /** Engine fact: a consumer whose subject has no subscriber sends nothing. */
  isHeard(): boolean;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openPushConsumer({ config, stream, server, send, isHeard }: PushNeeds): PushConsumer {
  const { filter_subject: filter = '>' } = config;
  const isLastOnly = config.deliver_policy === 'last_per_subject';
  let next = isLastOnly ? 1 : (config.opt_start_seq ?? 1);
  /** With the policy `last_per_subject`, the messages that were the last of their subjects when it was made. */
  let first = isLastOnly ? lastOnes(stream, filter) : [];
  let sent = 0;
  let sentSeq = 0;
  if (isLastOnly) next = stream.state().lastSeq + 1;

  function push({ seq, subject, headers, data, at }: StoredMessage, left: number): void {
    sent += 1;
    sentSeq = seq;
    const reply = `$JS.ACK.${stream.name}.${config.name}.1.${seq}.${sent}.${Math.round(at)}000000.${left}`;
    send({ subject, reply, headers, data });
  }

  function waiting(): StoredMessage[] {
    const found = [...first];
    for (let seq = next; seq <= stream.state().lastSeq; seq += 1) {
      const message = stream.get(seq);
      if (message !== undefined && matches(filter, message.subject)) found.push(message);
    }
    return found;
  }

  return {
    config,
    server,
    info: () => ({
      type: 'io.nats.jetstream.api.v1.consumer_info_response',
      stream_name: stream.name,
      name: config.name,
      config,
      num_pending: waiting().length,
      delivered: { consumer_seq: sent, stream_seq: sentSeq },
      ack_floor: { consumer_seq: 0, stream_seq: 0 },
    }),
    pump() {
      if (!isHeard()) return;
      const messages = waiting();
      first = [];
      next = Math.max(next, stream.state().lastSeq + 1);
      for (const [index, message] of messages.entries()) push(message, messages.length - index - 1);
    },
    beat() {
      const last: HeaderPair[] = [
        ['Nats-Last-Consumer', String(sent)],
        ['Nats-Last-Stream', String(sentSeq)],
      ];
      send(statusMessage(config.deliver_subject, { code: 100, description: 'Idle Heartbeat' }, last));
    },
  };
}

function lastOnes(stream: StoredStream, filter: string): StoredMessage[] {
  const last = [...stream.subjects(filter).keys()].flatMap((subject) => stream.lastOf(subject) ?? []);
  return last.sort((one, other) => one.seq - other.seq);
}

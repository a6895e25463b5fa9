/** The JetStream API: requests that the client library and deliver make. The leader answers, or a replica for a direct get. */
import type { ModelConnection } from './model-connection.ts';
import type { ModelEngine, ModelStream } from './model-engine.ts';
import { openPushConsumer, type PushConfig } from './push-consumer.ts';
import type { StoredMessage } from './stored-stream.ts';
import { encodeHeaders, jsonMessage, statusMessage, type WireMessage } from './wire.ts';

type Asked = { engine: ModelEngine; from: ModelConnection; reply: string; body: Record<string, unknown>; data: string };
type OfStream = Asked & { stream: ModelStream; name: string };

const iso = (at: number): string => new Date(at).toISOString();

export function answerApi(
  engine: ModelEngine,
  from: ModelConnection,
  { subject, reply = '', data }: WireMessage,
): void {
  const text = Buffer.from(data).toString();
  const asked = { engine, from, reply, data: text, body: text === '' ? {} : (JSON.parse(text) as Asked['body']) };
  const [, , kind = '', verb = '', ...rest] = subject.split('.');
  if (kind === 'STREAM' && verb === 'NAMES') return answer(asked, namesOf(engine));
  // `STREAM.INFO.stream`, `STREAM.MSG.GET.stream`, `CONSUMER.MSG.NEXT.stream.name`, `CONSUMER.CREATE.stream.name.filter`.
  const [streamName = '', name = ''] = verb === 'MSG' ? rest.slice(1) : rest;
  const stream = engine.streams.get(streamName);
  if (stream === undefined) return refuse(asked, 404, 10_059, 'stream not found');
  const ofStream = { ...asked, stream, name };
  if (kind === 'DIRECT') return readReplica(ofStream);
  if (kind === 'CONSUMER') return answerConsumer(ofStream, verb);
  // Without a leader the servers say nothing at first, and then that JetStream is not available.
  if (stream.group.leader() === undefined) {
    if (!stream.group.isSilent()) refuse(asked, 503, 10_008, 'JetStream system temporarily unavailable');
    return;
  }
  answerStream(ofStream, verb === 'MSG' ? `MSG.${rest[0]}` : verb);
}

function answer({ engine, reply }: Asked, value: object): void {
  engine.reply(reply, jsonMessage(reply, value));
}

function refuse(asked: Asked, code: number, errCode: number, description: string): void {
  answer(asked, { error: { code, err_code: errCode, description } });
}

function namesOf({ streams }: ModelEngine): object {
  const type = 'io.nats.jetstream.api.v1.stream_names_response';
  return { type, total: streams.size, offset: 0, limit: 1024, streams: [...streams.keys()] };
}

function answerStream(asked: OfStream, verb: string): void {
  switch (verb) {
    case 'INFO':
      return answer(asked, infoOf(asked));
    case 'MSG.GET':
      return readMessage(asked);
    case 'MSG.DELETE':
      return deleteMessage(asked);
    case 'PURGE':
      return purge(asked);
    default:
      throw new Error(`the model does not know the request STREAM.${verb}`);
  }
}

function infoOf({ engine, stream, body }: OfStream): object {
  const { stored, created } = stream;
  const { messages, bytes, firstSeq, lastSeq, firstAt, lastAt } = stored.state();
  const filter = body['subjects_filter'] as string | undefined;
  const subjects = filter === undefined ? {} : { subjects: Object.fromEntries(stored.subjects(filter)) };
  const times = { first_ts: iso(firstAt), last_ts: iso(lastAt) };
  return {
    type: 'io.nats.jetstream.api.v1.stream_info_response',
    config: stored.plan,
    created: iso(created),
    ts: iso(engine.stampOf(stream)),
    state: { messages, bytes, first_seq: firstSeq, last_seq: lastSeq, ...times, consumer_count: 1, ...subjects },
    cluster: { leader: `n${stream.group.leader()}` },
  };
}

function readMessage(asked: OfStream): void {
  const { stored } = asked.stream;
  const {
    seq = 1,
    last_by_subj: last,
    next_by_subj: next,
  } = asked.body as { seq?: number; last_by_subj?: string; next_by_subj?: string };
  const found =
    last !== undefined ? stored.lastOf(last) : next !== undefined ? stored.nextOf(next, seq) : stored.get(seq);
  if (found === undefined) return refuse(asked, 404, 10_037, 'no message found');
  const { subject, headers, data, at } = found;
  const hdrs = encodeHeaders(headers);
  const message = {
    subject,
    seq: found.seq,
    data: Buffer.from(data).toString('base64'),
    time: iso(at),
    ...(hdrs && { hdrs }),
  };
  answer(asked, { type: 'io.nats.jetstream.api.v1.stream_msg_get_response', message });
}

function deleteMessage(asked: OfStream): void {
  const { engine, stream, body } = asked;
  stream.group.propose(() => {
    const isGone = stream.stored.remove(body['seq'] as number, engine.clock.now());
    return () => (isGone ? answer(asked, { success: true }) : refuse(asked, 400, 10_043, 'sequence not found'));
  });
}

/** Engine fact: messages of the subject below the sequence go, later ones and those of other subjects stay. */
function purge(asked: OfStream): void {
  const { engine, stream, body } = asked;
  stream.group.propose(() => {
    const purged = stream.stored.purge(body, engine.clock.now());
    return () => answer(asked, { success: true, purged });
  });
}

/** Engine fact: any replica answers a direct get, also one that is behind: it may lack new messages and still have removed ones. */
function readReplica({ engine, stream, reply, body }: OfStream): void {
  const {
    seq = 1,
    next_by_subj: pattern = '>',
    batch = 1,
  } = body as { seq?: number; next_by_subj?: string; batch?: number };
  const behindMs = engine.random.next() < 0.5 ? 0 : engine.random.between(0, engine.mood.behindMs);
  const found = stream.stored.readBehind({ pattern, from: seq, most: batch, behindMs }, engine.clock.now());
  if (found.length === 0)
    return engine.reply(reply, statusMessage(reply, { code: 404, description: 'Message Not Found' }));
  for (const [index, message] of found.entries())
    engine.reply(reply, directMessage(reply, stream, message, found.length - index));
  engine.reply(reply, statusMessage(reply, { code: 204, description: 'EOB' }, [['Nats-Num-Pending', '0']]));
}

function directMessage(reply: string, stream: ModelStream, message: StoredMessage, left: number): WireMessage {
  const { subject, seq, headers, data, at } = message;
  const own = [
    ['Nats-Stream', stream.stored.name],
    ['Nats-Subject', subject],
    ['Nats-Sequence', String(seq)],
    ['Nats-Time-Stamp', iso(at)],
    ['Nats-Num-Pending', String(left)],
  ] as const;
  return { subject: reply, headers: [...headers, ...own], data };
}

function answerConsumer(asked: OfStream, verb: string): void {
  const { engine, stream, name, reply, body } = asked;
  const durable = engine.consumers.get(`${stream.stored.name}/${name}`);
  const push = [...stream.pushes].find(({ config }) => config.name === name);
  if (verb === 'CREATE') return createPush(asked);
  if (verb === 'DELETE') {
    if (push !== undefined) stream.pushes.delete(push);
    return answer(asked, { success: push !== undefined });
  }
  if (verb === 'INFO' && push !== undefined) return answer(asked, push.info());
  if (durable === undefined) return refuse(asked, 404, 10_014, 'consumer not found');
  // The leader of the consumer answers; without one no server does.
  if (durable.group.leader() === undefined) return;
  if (verb === 'INFO') {
    const floor = { consumer_seq: 0, stream_seq: durable.consumer.ackFloor() };
    return answer(asked, { name, ack_floor: floor, num_ack_pending: durable.consumer.ackPending() });
  }
  const { batch = 1, expires = 0 } = body as { batch?: number; expires?: number };
  const expiresAt = engine.clock.now() + expires / 1e6;
  durable.consumer.ask({ reply, left: batch, expiresAt, to: (message) => engine.reply(reply, message) });
}

/** A watch of a bucket. It is on the server of a replica and dies with it. */
function createPush(asked: OfStream): void {
  const { engine, stream, body } = asked;
  if (stream.group.leader() === undefined) return;
  const config = body['config'] as PushConfig;
  const server = engine.random.pick([0, 1, 2]);
  const send = (message: WireMessage) => engine.reply(config.deliver_subject, message);
  const isHeard = () => engine.isHeard(config.deliver_subject);
  const push = openPushConsumer({ config, stream: stream.stored, server, send, isHeard });
  stream.pushes.add(push);
  answer(asked, push.info());
}

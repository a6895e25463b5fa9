/**
 * A model of NATS JetStream as Millrace uses it: three servers, replicated streams and consumers, buckets, schedules. It answers the
 * messages that the real client library sends. Each rule is a fact of the engine that a test of the server holds against the real one
 * (server/src/stream/engine-facts.integration.test.ts), or a fault of the fault suite.
 */
import { layout, type StreamPlan, type StreamSettings } from '../../../../server/src/stream/layout/layout.ts';
import { seededRandom, type Random } from '../../seeded-random.ts';
import type { VirtualClock, VirtualProcess } from '../clock/virtual-clock.ts';
import { answerApi } from './answer-api.ts';
import type { ModelConnection } from './model-connection.ts';
import { openPullConsumer, type PullConsumer } from './pull-consumer.ts';
import type { PushConsumer } from './push-consumer.ts';
import { openRaftGroup, type RaftGroup } from './raft-group.ts';
import { fireWhenDue } from './schedules.ts';
import { openStoredStream, type StoredStream } from './stored-stream.ts';
import { headerOf, jsonMessage, matches, statusMessage, type WireMessage } from './wire.ts';

export type ModelStream = { stored: StoredStream; group: RaftGroup; created: number; pushes: Set<PushConsumer> };
export type ModelConsumer = { consumer: PullConsumer; group: RaftGroup };
export type ModelServer = { isUp: boolean; aheadMs: number };

/** How the engine behaves now; faults change it. */
export type EngineMood = {
  /** The longest that a message is on its way between a client and its server. */
  latencyMs: number;
  commitMs: number;
  /** How far replicas may be behind, for direct gets. */
  behindMs: number;
  /** The part of acknowledgements by clients that get lost. */
  lostAcks: number;
};

export type ModelEngine = {
  clock: VirtualClock;
  process: VirtualProcess;
  random: Random;
  mood: EngineMood;
  servers: ModelServer[];
  streams: Map<string, ModelStream>;
  consumers: Map<string, ModelConsumer>;
  connections: Set<ModelConnection>;
  /** The time of the server that leads the stream, in milliseconds since 1970. */
  stampOf(stream: ModelStream): number;
  /** A message of a client, arrived at its server. */
  receive(from: ModelConnection, message: WireMessage): void;
  /** Sends to the connection that a subject for answers belongs to. */
  reply(to: string, message: WireMessage): void;
  /** Whether a connection that stands has subscribed to the subject for answers. */
  isHeard(subject: string): boolean;
  /** A client has subscribed: watches that waited for it begin to send. */
  subscribed(subject: string): void;
  /** A write by the engine itself. */
  store(stream: ModelStream, message: WireMessage): void;
  /** A stream has changed: its consumers give out what they can. */
  changed(stream: ModelStream): void;
};

export const CALM: EngineMood = { latencyMs: 1, commitMs: 3, behindMs: 0, lostAcks: 0 };
const STREAM_BYTES = 64_000_000;
const HEARTBEAT_MS = 30_000;
const LOOK_MS = { least: 20, most: 500 };

export type EngineNeeds = { clock: VirtualClock; seed: number; settings: StreamSettings };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openModelEngine({ clock, seed, settings }: EngineNeeds): ModelEngine {
  const random = seededRandom(seed);
  const process = clock.start('engine', random.next);
  const servers = [0, 1, 2].map(() => ({ isUp: true, aheadMs: Math.round(random.between(-200, 200)) }));
  const mood = { ...CALM };
  const up = () => servers.flatMap(({ isUp }, index) => (isUp ? [index] : []));
  const commitMs = () => random.between(0.2, mood.commitMs);
  const groupNeeds = { clock, process, random, up, commitMs };
  const engine: ModelEngine = {
    clock,
    process,
    random,
    mood,
    servers,
    streams: new Map(),
    consumers: new Map(),
    connections: new Set(),
    stampOf: ({ group }) => clock.trueTime() + (servers[group.leader() ?? 0]?.aheadMs ?? 0),
    receive: (from, message) => receive(engine, from, message),
    reply: (to, message) => connectionOf(engine, to)?.deliver(to, message),
    isHeard: (subject) => connectionOf(engine, subject)?.hears(subject) === true,
    subscribed(subject) {
      for (const { pushes } of engine.streams.values())
        for (const push of pushes) if (push.config.deliver_subject === subject) push.pump();
    },
    store(stream, message) {
      store(engine, stream, message);
    },
    changed(stream) {
      for (const { consumer } of engine.consumers.values()) if (consumer.stream === stream.stored.name) consumer.pump();
      for (const push of stream.pushes) push.pump();
    },
  };
  const planned = layout(settings, () => STREAM_BYTES);
  const buckets = planned.buckets.map(({ name, ttlMs = 0 }): StreamPlan => {
    const limits = { max_msgs_per_subject: 1, max_bytes: STREAM_BYTES, max_age: ttlMs * 1e6 };
    return { name: `KV_${name}`, subjects: [`$KV.${name}.>`], ...limits };
  });
  for (const plan of [...planned.streams, ...buckets]) {
    const stream: ModelStream = {
      stored: openStoredStream(plan),
      group: openRaftGroup(plan.name, { ...groupNeeds, elected: () => engine.changed(stream) }),
      created: clock.trueTime(),
      pushes: new Set(),
    };
    engine.streams.set(plan.name, stream);
  }
  for (const plan of planned.consumers) addConsumer(engine, plan, groupNeeds);
  fireWhenDue(engine);
  beat(engine);
  return engine;
}

/** Subjects for answers begin with the name of their connection. */
function connectionOf({ connections }: ModelEngine, subject: string): ModelConnection | undefined {
  const prefix = subject.slice(0, subject.indexOf('.'));
  return connections.values().find((connection) => connection.prefix === prefix);
}

type GroupNeeds = Omit<Parameters<typeof openRaftGroup>[1], 'elected'>;
type ConsumerPlans = ReturnType<typeof layout>['consumers'];

function addConsumer(engine: ModelEngine, plan: ConsumerPlans[number], groupNeeds: GroupNeeds): void {
  const stream = engine.streams.get(plan.stream);
  if (stream === undefined) return;
  const { clock, process, random } = engine;
  const name = `${plan.stream}/${plan.config.durable_name}`;
  const group = openRaftGroup(name, {
    ...groupNeeds,
    elected() {
      consumer.moveLeader();
      consumer.pump();
    },
  });
  const consumer = openPullConsumer({
    plan,
    stream: stream.stored,
    now: clock.now,
    isLed: () => group.leader() !== undefined,
    dice: random.next,
    // Engine fact: a work queue drops what its consumer has acknowledged.
    done(seq) {
      if (stream.stored.plan.retention === 'workqueue') stream.stored.remove(seq, clock.now());
    },
  });
  engine.consumers.set(name, { consumer, group });
  // The server looks at deadlines now and then, and not to the millisecond.
  const look = () => {
    consumer.pump();
    const dueInMs = consumer.dueAt() - clock.now();
    clock.after(Math.min(Math.max(dueInMs, LOOK_MS.least), LOOK_MS.most), process, look);
  };
  look();
}

/** Heartbeats of the watches. One whose client is gone is forgotten. */
function beat(engine: ModelEngine): void {
  const { clock, process } = engine;
  for (const { pushes } of engine.streams.values()) for (const push of pushes) push.beat();
  clock.after(HEARTBEAT_MS, process, () => beat(engine));
}

function receive(engine: ModelEngine, from: ModelConnection, message: WireMessage): void {
  const { subject } = message;
  if (subject.startsWith('$JS.API.')) return answerApi(engine, from, message);
  if (subject.startsWith('$JS.ACK.')) return acknowledge(engine, message);
  const stream = engine.streams
    .values()
    .find(({ stored }) => stored.plan.subjects.some((each) => matches(each, subject)));
  if (stream !== undefined) return publish(engine, stream, message);
  const { reply } = message;
  const isHeard = engine.connections.values().some((connection) => connection.hears(subject));
  if (!isHeard && reply !== undefined) return engine.reply(reply, noResponders(reply));
  for (const connection of engine.connections) connection.deliver(subject, message);
}

/** `$JS.ACK.stream.consumer.count.sequence.…` */
function acknowledge(engine: ModelEngine, { subject, data }: WireMessage): void {
  const [, , stream = '', name = '', , seq] = subject.split('.');
  const found = engine.consumers.get(`${stream}/${name}`);
  // An acknowledgement that finds no leader is lost: the client does not wait for an answer.
  if (found === undefined || found.group.leader() === undefined) return;
  if (engine.random.next() < engine.mood.lostAcks) return;
  const payload = Buffer.from(data).toString();
  found.group.propose(() => {
    found.consumer.answer(Number(seq), payload);
    return undefined;
  });
}

/** Engine fact: a subject without a subscriber is answered with 503. The subjects of a stream are subscribed by its leader. */
function noResponders(reply: string): WireMessage {
  return statusMessage(reply, { code: 503, description: '' });
}

function publish(engine: ModelEngine, stream: ModelStream, message: WireMessage): void {
  const { reply } = message;
  const { group } = stream;
  if (group.leader() === undefined) {
    if (!group.isSilent() && reply !== undefined) engine.reply(reply, noResponders(reply));
    return;
  }
  group.propose(() => {
    const answer = store(engine, stream, message);
    return reply === undefined ? undefined : () => engine.reply(reply, jsonMessage(reply, answer));
  });
}

function store(engine: ModelEngine, stream: ModelStream, message: WireMessage): object {
  const { stored } = stream;
  const appended = stored.append(message, { now: engine.clock.now(), stamp: engine.stampOf(stream) });
  if (appended.kind === 'error') {
    const { code, description } = appended;
    return { error: { code: 400, err_code: code, description } };
  }
  if (appended.kind === 'duplicate') return { stream: stored.name, seq: appended.seq, duplicate: true };
  // Engine fact: a schedule that fired takes away the schedule of its subject, whichever is there by then.
  const scheduler = headerOf(message, 'Nats-Scheduler');
  if (scheduler !== undefined) stored.purge({ filter: scheduler }, engine.clock.now());
  engine.changed(stream);
  return { stream: stored.name, seq: appended.message.seq };
}

import type { NatsCluster, NatsNode } from '@millrace/engines';
import { isLed, type StreamAnswer } from '../../server/src/stream/leaders/ask-leader.ts';
import { connectNats } from '../../server/src/stream/nats/connect-nats.ts';
import { SILENT } from './sources.ts';
import { DELIVER_CONSUMER, TICKETS_STREAM } from '../../server/src/stream/layout/layout.ts';
import { waitUntil } from './wait-until.ts';

/** The state of the NATS servers, read over their monitoring ports, so that a stopped one cannot block the reading. */
export type EngineView = {
  /** Streams with a server that says it is their leader. */
  leaders(): Promise<Map<string, NatsNode>>;
  /** The server that holds the connection of this name, of the host with this address where others have one as well. */
  holderOf(connection: string, address?: string): Promise<NatsNode | undefined>;
  moveLeader(stream: string, to: NatsNode): Promise<void>;
  /** Resolves when every event stream has a leader, with how long that took. */
  hasLeaders(): Promise<number>;
  /** Messages by stream, as the leaders report them; a stream without a leader is missing. */
  messages(): Promise<Map<string, number>>;
  /** Copies of streams that are shorter than their leader's. */
  behind(): Promise<string[]>;
  /** Resolves when every replica of every event stream is as long as its leader: messages by stream. */
  isWhole(): Promise<Map<string, number>>;
  /** The same under load, where replicas are always a little behind. */
  isCaughtUp(): Promise<void>;
  /** Messages that the streams hold and their consumers have not settled, as the leaders report them. */
  leftovers(): Promise<Leftovers>;
};

export type Leftovers = {
  /** False when a leader was missing or did not answer: then there may be more. */
  isWhole: boolean;
  /** Requests that no process has taken yet, and that some process has taken and not acknowledged. */
  untaken: number;
  unacknowledged: number;
  /** Groups that wait in lanes, and tickets for them. */
  laneGroups: number;
  tickets: number;
};

type Cluster = NonNullable<StreamAnswer['cluster']> & { leader_since?: string };
type StreamDetail = {
  name: string;
  cluster?: Cluster;
  state: { messages: number; last_seq: number };
  consumer_detail?: ConsumerDetail[];
};
type ConsumerDetail = {
  stream_name: string;
  name: string;
  delivered: { stream_seq: number };
  num_ack_pending: number;
  num_pending: number;
  cluster?: Cluster;
};
type Jsz = { account_details?: { stream_detail?: StreamDetail[] }[] };
type Connz = { connections?: { name?: string; ip?: string }[] };

const PATIENCE_MS = 60_000;
const LOAD_SLACK = 50;
/** A server that was added holds some of the streams. */
const REPLICAS = 3;
const ANSWER_WITHIN_MS = 2_000;

export function viewEngine({ nodes }: NatsCluster, streams: readonly string[]): EngineView {
  const leaders = async () => new Map((await Promise.all(nodes.map(ledBy))).flat());

  const hasLeaders = () =>
    waitUntil('every stream has a leader', PATIENCE_MS, async () => (await leaders()).size === streams.length);

  async function isWithin(slack: number): Promise<Map<string, number>> {
    await hasLeaders();
    let found: StreamDetail[] = [];
    await waitUntil('every replica is as long as its leader', PATIENCE_MS, async () => {
      found = (await Promise.all(nodes.map((node) => streamsOf(node)))).flat();
      return streams.every((stream) => {
        const ends = found.filter(({ name }) => name === stream).map(({ state }) => state.last_seq);
        return ends.length === Math.min(nodes.length, REPLICAS) && Math.max(...ends) - Math.min(...ends) <= slack;
      });
    });
    return new Map(found.filter(({ name }) => streams.includes(name)).map(({ name, state }) => [name, state.messages]));
  }

  async function ledBy(node: NatsNode): Promise<[string, NatsNode][]> {
    const known = (await streamsOf(node)).filter(({ name }) => streams.includes(name));
    return known
      .filter(({ cluster }) => nodes.length === 1 || isLeading(node, cluster))
      .map(({ name }) => [name, node]);
  }

  return {
    leaders,
    hasLeaders,
    holderOf: (connection, address) => findHolder(nodes, connection, address),
    async moveLeader(stream, to) {
      await stepDown(stream, to);
      await waitUntil(`${to.name} leads ${stream}`, PATIENCE_MS, async () => (await leaders()).get(stream) === to);
    },
    messages: () => messagesOf(nodes, streams),
    behind: () => copiesBehind(nodes, streams),
    isWhole: () => isWithin(0),
    isCaughtUp: async () => void (await isWithin(LOAD_SLACK)),
    leftovers: async () =>
      sumLeftovers(await Promise.all(nodes.map((node) => ledPartsOf(node, nodes.length === 1))), streams),
  };
}

async function messagesOf(nodes: readonly NatsNode[], streams: readonly string[]): Promise<Map<string, number>> {
  const parts = await Promise.all(nodes.map((node) => ledPartsOf(node, nodes.length === 1)));
  const led = parts.flatMap((part) => part.streams).filter(({ name }) => streams.includes(name));
  return new Map(led.map(({ name, state }) => [name, state.messages]));
}

async function copiesBehind(nodes: readonly NatsNode[], streams: readonly string[]): Promise<string[]> {
  const held = await Promise.all(
    nodes.map(async (node) => (await streamsOf(node)).map((stream) => ({ ...stream, on: node.name }))),
  );
  const copies = held.flat().filter(({ name }) => streams.includes(name));
  const ends = Map.groupBy(copies, ({ name }) => name);
  const endOf = (name: string) => Math.max(...(ends.get(name) ?? []).map(({ state }) => state.last_seq));
  return copies.filter(({ name, state }) => state.last_seq < endOf(name)).map(({ name, on }) => `${name} on ${on}`);
}

async function findHolder(
  nodes: readonly NatsNode[],
  connection: string,
  address: string | undefined,
): Promise<NatsNode | undefined> {
  const answers = await Promise.all(nodes.map((node) => askMonitor<Connz>(node, '/connz')));
  return nodes.find((_, i) => holds(answers[i], connection, address));
}

function holds(answer: Connz | undefined, connection: string, address: string | undefined): boolean {
  const named = answer?.connections?.filter(({ name }) => name === connection) ?? [];
  return named.some(({ ip }) => address === undefined || ip === address);
}

type LedParts = { streams: StreamDetail[]; consumers: ConsumerDetail[] };

async function ledPartsOf(node: NatsNode, isAlone: boolean): Promise<LedParts> {
  const streams = await streamsOf(node, '&consumers=true');
  const leads = ({ cluster }: Pick<StreamDetail, 'cluster'>) => isAlone || isLeading(node, cluster);
  const consumers = streams.flatMap((stream) => stream.consumer_detail ?? []).filter(leads);
  return { streams: streams.filter(leads), consumers };
}

function sumLeftovers(parts: readonly LedParts[], names: readonly string[]): Leftovers {
  const streams = parts.flatMap((part) => part.streams);
  // A leader that was cut off from the others goes on calling itself one.
  const led = new Set(streams.filter(isLed).map(({ name }) => name));
  const deliver = parts.flatMap((part) => part.consumers).filter(({ name }) => name === DELIVER_CONSUMER);
  const messagesOf = (prefix: string) =>
    sum(streams.filter(({ name }) => name.startsWith(prefix)).map(({ state }) => state.messages));
  const isWhole =
    names.every((name) => led.has(name)) && deliver.filter(isLed).length === [...led].filter(isOfEvents).length;
  return {
    isWhole,
    untaken: sum(deliver.map((consumer) => untakenOf(consumer, streams))),
    unacknowledged: sum(deliver.map((consumer) => consumer.num_ack_pending)),
    laneGroups: messagesOf('LANES-'),
    tickets: messagesOf(TICKETS_STREAM),
  };
}

/** A consumer counts what its own server's copy of the stream has, and that copy may lag behind the leader's by a minute. */
function untakenOf({ stream_name, delivered, num_pending }: ConsumerDetail, streams: readonly StreamDetail[]): number {
  const ends = streams.filter(({ name }) => name === stream_name).map(({ state }) => state.last_seq);
  return Math.max(num_pending, ...ends.map((end) => end - delivered.stream_seq));
}

function isOfEvents(stream: string): boolean {
  return stream.startsWith('EVENTS-');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

/** A server that is still starting names itself leader of everything; since when, only a real leader knows. */
function isLeading(node: NatsNode, cluster: StreamDetail['cluster']): boolean {
  return cluster?.leader === node.name && cluster.leader_since !== undefined;
}

async function stepDown(stream: string, to: NatsNode): Promise<void> {
  await using connection = await connectNats({ url: to.adminUrl, name: 'faults', log: SILENT });
  const wish = JSON.stringify({ placement: { preferred: to.name } });
  await connection.nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, wish, { timeout: 5_000 });
}

async function streamsOf(node: NatsNode, more = ''): Promise<StreamDetail[]> {
  const jsz = await askMonitor<Jsz>(node, `/jsz?accounts=true&streams=true${more}`);
  return jsz?.account_details?.flatMap((account) => account.stream_detail ?? []) ?? [];
}

/** Asks a server over its monitoring port; undefined while it is down or stopped. */
export async function askMonitor<T>(node: NatsNode, path: string): Promise<T | undefined> {
  try {
    const answer = await fetch(node.monitorUrl + path, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return (await answer.json()) as T;
  } catch {
    // It has nothing to say now.
    return undefined;
  }
}

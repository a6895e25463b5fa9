import type { NatsCluster, NatsNode } from '@millrace/engines';
import { openLog } from '../../server/src/log.ts';
import { connectNats } from '../../server/src/stream/connect-nats.ts';
import { waitUntil } from './wait-until.ts';

/** What the servers say of themselves, asked from outside over HTTP, so that a stopped one cannot stop the question. */
export type EngineView = {
  /** Streams with a server that says it is their leader. */
  leaders(): Promise<Map<string, NatsNode>>;
  /** The server that holds the connection of this name. */
  holderOf(connection: string): Promise<NatsNode | undefined>;
  moveLeader(stream: string, to: NatsNode): Promise<void>;
  /** Resolves when every event stream has a leader, with how long that took. */
  hasLeaders(): Promise<number>;
  /** Resolves when every replica of every event stream is as long as its leader: messages by stream. */
  isWhole(): Promise<Map<string, number>>;
  /** The same under load, where replicas are always a little behind. */
  isCaughtUp(): Promise<void>;
};

type StreamDetail = {
  name: string;
  cluster?: { leader?: string; leader_since?: string };
  state: { messages: number; last_seq: number };
};
type Jsz = { account_details?: { stream_detail?: StreamDetail[] }[] };
type Connz = { connections?: { name?: string }[] };

const PATIENCE_MS = 60_000;
const LOAD_SLACK = 50;
const ANSWER_WITHIN_MS = 1_000;

export function viewEngine({ nodes }: NatsCluster, streams: readonly string[]): EngineView {
  const leaders = async () => new Map((await Promise.all(nodes.map(ledBy))).flat());

  const hasLeaders = () =>
    waitUntil('every stream has a leader', PATIENCE_MS, async () => (await leaders()).size === streams.length);

  async function isWithin(slack: number): Promise<Map<string, number>> {
    await hasLeaders();
    let found: StreamDetail[] = [];
    await waitUntil('every replica is as long as its leader', PATIENCE_MS, async () => {
      found = (await Promise.all(nodes.map(streamsOf))).flat();
      return streams.every((stream) => {
        const ends = found.filter(({ name }) => name === stream).map(({ state }) => state.last_seq);
        return ends.length === nodes.length && Math.max(...ends) - Math.min(...ends) <= slack;
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
    async holderOf(connection) {
      const answers = await Promise.all(nodes.map((node) => ask<Connz>(node, '/connz')));
      return nodes.find((_, i) => answers[i]?.connections?.some(({ name }) => name === connection));
    },
    async moveLeader(stream, to) {
      await stepDown(stream, to);
      await waitUntil(`${to.name} leads ${stream}`, PATIENCE_MS, async () => (await leaders()).get(stream) === to);
    },
    isWhole: () => isWithin(0),
    isCaughtUp: async () => void (await isWithin(LOAD_SLACK)),
  };
}

/** A server that is still starting names itself leader of everything; since when, only a real leader knows. */
function isLeading(node: NatsNode, cluster: StreamDetail['cluster']): boolean {
  return cluster?.leader === node.name && cluster.leader_since !== undefined;
}

async function stepDown(stream: string, to: NatsNode): Promise<void> {
  await using connection = await connectNats({ url: to.url, name: 'faults', log: SILENT });
  const wish = JSON.stringify({ placement: { preferred: to.name } });
  await connection.nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, wish, { timeout: 5_000 });
}

const SILENT = openLog({ level: 'silent', pretty: false });

async function streamsOf(node: NatsNode): Promise<StreamDetail[]> {
  const jsz = await ask<Jsz>(node, '/jsz?accounts=true&streams=true');
  return jsz?.account_details?.flatMap((account) => account.stream_detail ?? []) ?? [];
}

async function ask<T>(node: NatsNode, path: string): Promise<T | undefined> {
  try {
    const answer = await fetch(node.monitorUrl + path, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return (await answer.json()) as T;
  } catch {
    // Down or stopped: it has nothing to say now.
    return undefined;
  }
}

import type { NatsConnection } from '@nats-io/transport-node';

/** The answer to `$JS.API.STREAM.INFO`, as far as we read it. */
export type StreamAnswer = {
  error?: { code?: number };
  state?: { bytes: number };
  config?: { max_bytes: number };
  /** Only servers of a cluster have it. `active`: nanoseconds since the leader heard of that follower. */
  cluster?: { leader?: string; replicas?: { active: number }[] };
};

/** A follower answers the leader once a second, and more often under load. */
const FOLLOWS_WITHIN_NS = 3_000_000_000;
/** A server says so itself when it has noticed that there is no leader. */
const UNAVAILABLE = 503;

/** The answer of a leader that can store messages now; undefined when none answers. */
export async function askLeader(
  nc: Pick<NatsConnection, 'request'>,
  stream: string,
  timeoutMs: number,
): Promise<StreamAnswer | undefined> {
  try {
    const message = await nc.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: timeoutMs });
    const answer = message.json<StreamAnswer>();
    return isLed(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a leader with a majority has answered. A leader that is cut off from its cluster goes on answering as leader for ten to twenty
 * seconds, and after that answers without a leader; but it says for how long each follower has been silent. Any other error, such as a
 * stream that does not exist, is the answer of a leader.
 */
export function isLed({ error, cluster }: Pick<StreamAnswer, 'error' | 'cluster'>): boolean {
  if (error !== undefined) return error.code !== UNAVAILABLE;
  if (cluster === undefined) return true;
  const { leader, replicas = [] } = cluster;
  const following = replicas.filter(({ active }) => active < FOLLOWS_WITHIN_NS).length;
  return leader !== undefined && (1 + following) * 2 > 1 + replicas.length;
}

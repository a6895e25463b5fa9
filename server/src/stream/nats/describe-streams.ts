import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { Connection } from './connect-nats.ts';
import { kindOf } from './watch-fill.ts';

export type StreamFacts = {
  name: string;
  messages: number;
  bytes: number;
  maxBytes: number | null;
  fill: number | null;
  leader: string | null;
  replicas: number;
  laggingReplicas: number;
};

/** Every stream and bucket of ours, by name; other streams of the account are left out. */
export async function describeStreams(manager: JetStreamManager, { nc }: Connection): Promise<StreamFacts[]> {
  const streams = await Array.fromAsync(manager.streams.list());
  const ours = streams
    .filter(({ config }) => kindOf(config.name) !== undefined)
    .map((info) => toFacts(info, nc.info?.server_name));
  return ours.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** A server that is in no cluster leads all its streams and does not say so. */
function toFacts({ config, state, cluster }: StreamInfo, server: string | undefined): StreamFacts {
  const { messages, bytes } = state;
  const maxBytes = config.max_bytes > 0 ? config.max_bytes : null;
  const lagging = (cluster?.replicas ?? []).filter(({ current, offline }) => !current || offline);
  return {
    name: config.name,
    messages,
    bytes,
    maxBytes,
    fill: maxBytes === null ? null : bytes / maxBytes,
    leader: (cluster === undefined ? server : cluster.leader) ?? null,
    replicas: config.num_replicas,
    laggingReplicas: lagging.length,
  };
}

import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { ServerStore } from '../layout/level-streams.ts';
import type { FoundStream } from '../layout/stream-sizes.ts';
import { kindOf } from '../nats/watch-fill.ts';

export type SurveyedStream = FoundStream & {
  leader: string | undefined;
  subjects: readonly string[];
  /** Whether all its replicas are there and have what the leader has. */
  isCurrent: boolean;
};
export type Survey = {
  stores: readonly ServerStore[];
  streams: readonly SurveyedStream[];
  /** Whether every stream and every server that holds one has answered. Without that no size is known. */
  isWhole: boolean;
};

/** All streams and buckets of ours and the servers that hold them. `stores`: the servers that answered. */
export async function surveyStreams(manager: JetStreamManager, stores: readonly ServerStore[]): Promise<Survey> {
  // A stream without a leader is among the names, and missing in the list.
  const names = (await Array.fromAsync(manager.streams.names())).filter((name) => kindOf(name) !== undefined);
  const infos = await Array.fromAsync(manager.streams.list());
  const streams = infos
    .filter(({ config }) => kindOf(config.name) !== undefined)
    .map((info) => toSurveyed(info, stores));
  const answered = new Set(stores.map(({ name }) => name));
  const listed = new Set(streams.map(({ name }) => name));
  const isWhole =
    names.every((name) => listed.has(name)) &&
    streams.every(({ peers }) => peers.length > 0 && peers.every((peer) => answered.has(peer)));
  return { stores, streams, isWhole };
}

/** A server that is in no cluster holds all streams and does not say so. */
function toSurveyed({ config, state, cluster }: StreamInfo, stores: readonly ServerStore[]): SurveyedStream {
  const { leader, replicas = [] } = cluster ?? {};
  const named = [...(leader === undefined || leader === '' ? [] : [leader]), ...replicas.map(({ name }) => name)];
  const peers = named.length === 0 && stores.length === 1 ? stores.map(({ name }) => name) : named;
  return {
    name: config.name,
    subjects: config.subjects ?? [],
    peers,
    leader,
    maxBytes: config.max_bytes,
    usedBytes: state.bytes,
    isCurrent: peers.length >= config.num_replicas && replicas.every(({ current, offline }) => current && !offline),
  };
}

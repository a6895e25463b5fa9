import type { NatsConnection } from '@nats-io/transport-node';
import { kindOf } from '../nats/watch-fill.ts';
import type { SurveyedStream } from './survey.ts';

export type LeaderMove = { stream: string; from: string; to: string };

/** Kinds of which there are several streams: their leaders share the work. */
const SPREAD = ['events', 'lanes', 'outcomes'];
const ANSWER_MS = 5_000;

/**
 * The next move that spreads the leaders of a kind over the servers that hold its streams; undefined when none would gain. Only a stream
 * whose replicas are all there and up to date is moved, and only to a server that leads at least two fewer.
 */
export function nextMove(streams: readonly SurveyedStream[]): LeaderMove | undefined {
  for (const kind of SPREAD) {
    const ofKind = streams.filter(({ name }) => kindOf(name) === kind);
    const led = (server: string) => ofKind.filter(({ leader }) => leader === server).length;
    const moves = ofKind
      .filter(({ isCurrent }) => isCurrent)
      .flatMap(({ name, leader, peers }) =>
        leader === undefined
          ? []
          : peers.map((to) => ({ move: { stream: name, from: leader, to }, gain: led(leader) - led(to) })),
      );
    const best = moves.reduce<(typeof moves)[number] | undefined>(
      (one, other) => (other.gain > (one?.gain ?? 1) ? other : one),
      undefined,
    );
    if (best !== undefined) return best.move;
  }
  return undefined;
}

/** Hands the leadership over. The new leader has everything that was acknowledged, so nothing is lost, and it answers within moments. */
export async function moveLeader(nc: NatsConnection, { stream, to }: LeaderMove): Promise<void> {
  const wish = JSON.stringify({ placement: { preferred: to } });
  const answer = await nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, wish, { timeout: ANSWER_MS });
  const { error }: { error?: { description?: string } } = answer.json();
  if (error !== undefined) throw new Error(error.description ?? 'refused');
}

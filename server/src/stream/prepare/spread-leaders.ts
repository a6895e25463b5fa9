import { kindOf } from '../nats/watch-fill.ts';
import type { SurveyedStream } from './survey.ts';

export type LeaderMove = { stream: string; from: string; to: string };

/** Kinds of which there are several streams: their leaders share the work. */
const SPREAD = ['events', 'lanes', 'outcomes'];
/** Leaders that are spread unevenly wait for this time: a server that is restarted now may be the next. */
const UNEVEN_MS = 300_000;

export type LeaderMoves = {
  /** New streams get leaders by chance, and are worth spreading at once. */
  noteMade(): void;
  /** The move that is to be made now. */
  next(streams: readonly SurveyedStream[]): LeaderMove | undefined;
};

/**
 * Decides when leaders move. NATS may not follow a wish: a server that shuts down or is slow does not become the leader. Each wish costs an
 * election, so a stream that was moved is left alone for a while.
 */
export function openLeaderMoves(uptimeMs: () => number = () => performance.now()): LeaderMoves {
  const movedAt = new Map<string, number>();
  let unevenAt: number | undefined;
  let spreadUntil = -Infinity;
  return {
    noteMade() {
      spreadUntil = uptimeMs() + UNEVEN_MS;
    },
    next(streams) {
      const now = uptimeMs();
      if (nextMove(streams) === undefined) {
        unevenAt = undefined;
        return undefined;
      }
      unevenAt ??= now;
      if (now > spreadUntil && now - unevenAt < UNEVEN_MS) return undefined;
      for (const [stream, at] of movedAt) if (now - at >= UNEVEN_MS) movedAt.delete(stream);
      const move = nextMove(streams, movedAt);
      if (move !== undefined) movedAt.set(move.stream, now);
      return move;
    },
  };
}

/**
 * The next move that spreads the leaders of a kind over the servers that hold its streams; undefined when none would gain. Only a stream
 * whose replicas are all there and up to date is moved, and only to a server that leads at least two fewer. Streams that `rest` stay.
 */
export function nextMove(
  streams: readonly SurveyedStream[],
  rest: Pick<ReadonlyMap<string, unknown>, 'has'> = new Map(),
): LeaderMove | undefined {
  for (const kind of SPREAD) {
    const ofKind = streams.filter(({ name }) => kindOf(name) === kind);
    const led = (server: string) => ofKind.filter(({ leader }) => leader === server).length;
    const moves = ofKind
      .filter(({ name, isCurrent }) => isCurrent && !rest.has(name))
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

/** Tails, lanes, and questions to deliver, over all cells. A cell that is away is left out. */
import { MAIN_CELL } from '../domain/configuration.ts';
import type { LaneHealth } from '../domain/lane-health.ts';
import type { RecordSide } from '../stream/open-record-side.ts';
import type { Asks } from '../stream/signals/asks.ts';
import type { Tails } from '../stream/signals/tail-listener.ts';
import type { CellSide } from './join-control-sides.ts';

type Lanes = Pick<RecordSide, 'laneOf' | 'lanes'>;

export function joinTails(cells: readonly CellSide<Tails>[]): Tails {
  return {
    listen(...to) {
      const listening = cells.flatMap(({ side }) => side()?.listen(...to) ?? []);
      return {
        told: Promise.all(listening.map(({ told }) => told)).then(() => undefined),
        [Symbol.dispose]() {
          for (const each of listening) each[Symbol.dispose]();
        },
      };
    },
  };
}

/** A question about a destination goes to the cell of its source; any other to the first cell with a deliver process. */
export function joinAsks(
  cells: readonly CellSide<Asks>[],
  cellOf: (destinationId: string) => Promise<string | undefined>,
): Asks {
  return {
    async ask(question, timeoutMs) {
      const own =
        'destinationId' in question
          ? ((await cellOf(question.destinationId).catch(() => undefined)) ?? MAIN_CELL)
          : undefined;
      const asked = cells.filter(({ name }) => own === undefined || name === own).flatMap(({ side }) => side() ?? []);
      for (const asks of asked) {
        const answer = await asks.ask(question, timeoutMs);
        if (own !== undefined || (answer.kind !== 'nobody' && answer.kind !== 'away')) return answer;
      }
      return { kind: asked.length === 0 ? 'away' : 'nobody' };
    },
  };
}

/** A moved source has lanes in several cells: the fuller one is shown, with the depth of all. */
export function joinLanes(cells: readonly CellSide<Lanes>[]): Lanes {
  const open = () => cells.flatMap(({ side }) => side() ?? []);
  const join = (lanes: Iterable<LaneHealth>): LaneHealth[] => {
    const joined = new Map<string, LaneHealth>();
    for (const lane of lanes) {
      const other = joined.get(lane.destinationId);
      joined.set(lane.destinationId, other === undefined ? lane : sum(lane, other));
    }
    return [...joined.values()];
  };
  return {
    laneOf: (destinationId) => join(open().flatMap(({ laneOf }) => laneOf(destinationId) ?? []))[0],
    lanes: {
      ofWorkspace: (workspaceId) => join(open().flatMap(({ lanes }) => lanes.ofWorkspace(workspaceId))),
      all: () => join(open().flatMap(({ lanes }) => [...lanes.all()])),
    },
  };
}

function sum(one: LaneHealth, other: LaneHealth): LaneHealth {
  const fuller = one.depth >= other.depth ? one : other;
  return { ...fuller, depth: one.depth + other.depth, bytes: one.bytes + other.bytes };
}

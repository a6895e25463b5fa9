import { MAIN_CELL, NO_CELL } from '../domain/configuration.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Appended, RequestToAppend } from '../stream/events/append-request.ts';
import type { Stream } from '../stream/open-stream.ts';

/** A cell as collect uses it; its stream is undefined while it could not be opened. */
export type ReachableCell = { name: string; stream(): Pick<Stream, 'append' | 'isAvailable'> | undefined };

export type CellAppender = {
  /** To the cell of the request, and to its spare if that cell does not take it. */
  append(request: RequestToAppend): Promise<Appended>;
  /** Whether any cell would try. */
  isAvailable(): boolean;
};

const BEHIND =
  'no cell is known to have the configuration of the source: it is on its way, or a config bucket is behind';

export function openCellAppender(cells: readonly ReachableCell[], metrics: Metrics): CellAppender {
  const byName = new Map(cells.map((cell) => [cell.name, cell]));
  const failovers = metrics.counters('millrace_cell_failovers_total');
  metrics.gauges('millrace_cell_available', () => cells.map(({ name, stream }) => [name, Number(isUp(stream()))]));

  async function appendTo(name: string, request: RequestToAppend): Promise<Appended> {
    if (name === NO_CELL) return { ok: false, why: BEHIND };
    const cell = byName.get(name);
    if (cell === undefined) return { ok: false, why: `MILLRACE_CELLS of this process does not name the cell ${name}` };
    const stream = cell.stream();
    return stream === undefined
      ? { ok: false, why: `the cell ${name} could not be reached since the start of this process` }
      : stream.append(request);
  }

  return {
    async append(request) {
      const { cell = MAIN_CELL, spare } = request;
      // The first cell is asked for every request: while it is away, that fails in memory.
      const first = await appendTo(cell, request);
      if (first.ok || spare === undefined) return first;
      const second = await appendTo(spare, request);
      if (second.ok) failovers(cell).add();
      return second.ok ? second : { ok: false, why: `${cell}: ${first.why}; its spare ${spare}: ${second.why}` };
    },
    isAvailable: () => cells.some(({ stream }) => isUp(stream())),
  };
}

function isUp(stream: Pick<Stream, 'isAvailable'> | undefined): boolean {
  return stream?.isAvailable() === true;
}

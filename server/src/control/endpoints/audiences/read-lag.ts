import { readNameInCell } from '../../../domain/configuration.ts';
import { listPositions } from '../../../store/compute/positions.ts';
import type { Tx } from '../../../store/open-store.ts';
import { eventStreamName, MOST_EVENT_STREAMS } from '../../../stream/layout/layout.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';

/** How far the slowest reader is behind, in seconds; null when no stream was read yet. */
export async function readLag(tx: Tx, { side, now }: Pick<ControlNeeds, 'side' | 'now'>): Promise<number | null> {
  // With several cells, the number of streams is not known while one is away.
  const streams = side.events.cells === undefined ? side.events.streams : MOST_EVENT_STREAMS;
  const names = new Set(Array.from({ length: streams }, (_, stream) => eventStreamName(stream)));
  const clocks = (await listPositions(tx)).flatMap(({ stream, position }) =>
    names.has(readNameInCell(stream).name) && position !== undefined ? [position.clock] : [],
  );
  if (clocks.length === 0) return null;
  return Math.max(0, Math.round((now().getTime() - Math.min(...clocks)) / 100) / 10);
}

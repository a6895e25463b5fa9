/** Control and compute over all cells. A part of another cell is undefined until that cell is open. */
import { joinComputeSides } from './join-compute-sides.ts';
import { type CellSide, joinControlSides } from './join-control-sides.ts';
import { joinProjectors } from './join-projectors.ts';
import { joinAsks, joinLanes, joinTails } from './join-signals.ts';
import type { CellLink } from './open-link.ts';
import { MAIN_CELL } from '../domain/configuration.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { type Projector, startProjector } from '../projection/project-config.ts';
import { totalOf } from '../projection/repair-config.ts';
import { recordRefusals } from '../record/record-refusals.ts';
import type { RecordSettings } from '../record/record-settings.ts';
import { recordSightings } from '../record/record-sightings.ts';
import type { SharedRecording } from '../record/record-streams.ts';
import { recordCell } from '../record/start-recording.ts';
import type { EntrySigner } from '../secrets/sign-entry.ts';
import { cellOfDestination } from '../store/cells.ts';
import type { Store } from '../store/open-store.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import type { ControlSide } from '../stream/open-control-side.ts';
import type { RecordSide } from '../stream/open-record-side.ts';
import type { Stream } from '../stream/open-stream.ts';
import type { Asks } from '../stream/signals/asks.ts';
import type { Tails } from '../stream/signals/tail-listener.ts';

type Parts = { side: ControlSide; record: RecordSide; tails: Tails; asks: Asks | undefined; projector: Projector };
type Main = Omit<Parts, 'projector'>;

export type ControlCells = Main & {
  /** Adds the projectors of the other cells; the first call also tells where the store is. */
  project(main: Projector, store: Store): Projector;
  /** Wakes the projectors of all cells: sources arrived in one of them. */
  arrived(): void;
  /** Starts everything that control does in the other cells. */
  start(needs: StartNeeds): AsyncDisposable;
};

type StartNeeds = {
  store: Store;
  signer: EntrySigner | undefined;
  settings: RecordSettings;
  /** With the recording of `main`. */
  shared: SharedRecording;
  log: Logger;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openControlCells(main: Main, links: readonly CellLink[], metrics: Metrics): ControlCells {
  const open = new Map<string, Parts>();
  const known = Promise.withResolvers<Store>();
  let projectors: Projector | undefined;
  const arrived = () => projectors?.changed();
  const cellOf = async (id: string) => (await known.promise).asSystem((tx) => cellOfDestination(tx, id));
  const others = <Part>(part: (parts: Parts) => Part): CellSide<NonNullable<Part>>[] =>
    links.map(({ name }) => ({ name, side: () => partOf(open.get(name), part) }));
  // Else each question to a cell that is away would wait for its timeout.
  const sides = links.map(({ name, stream }) => ({ name, side: () => ifConnected(stream(), open.get(name)?.side) }));
  const withMain = <Part>(part: (parts: Main) => Part): CellSide<NonNullable<Part>>[] => [
    { name: MAIN_CELL, side: () => part(main) ?? undefined },
    ...others(part),
  ];
  const isAlone = links.length === 0;
  const { laneOf, lanes } = isAlone ? main.record : joinLanes(withMain(({ record }) => record));
  return {
    side: joinControlSides({ main: main.side, others: sides, cellOf }),
    record: { ...main.record, laneOf, lanes },
    tails: isAlone ? main.tails : joinTails(withMain(({ tails }) => tails)),
    asks:
      isAlone || main.asks === undefined
        ? main.asks
        : joinAsks(
            withMain(({ asks }) => asks),
            cellOf,
          ),
    project(projector, store) {
      known.resolve(store);
      showRemovals(metrics, [{ name: MAIN_CELL, side: () => projector }, ...others((parts) => parts.projector)]);
      if (isAlone) return projector;
      return (projectors = joinProjectors(projector, () => links.map(({ name }) => open.get(name)?.projector)));
    },
    arrived,
    start(needs) {
      const stack = new AsyncDisposableStack();
      for (const link of links) {
        const opened = (parts: Parts) => void open.set(link.name, parts);
        stack.use(
          link.attach('control', (stream) => controlCell(stream, { ...needs, cell: link.name, arrived, opened })),
        );
      }
      return stack;
    },
  };
}

/** Of the cells that are open. */
function showRemovals(metrics: Metrics, projectors: readonly CellSide<Pick<Projector, 'removals'>>[]): void {
  metrics.gauges('millrace_removals_waiting', () =>
    projectors.flatMap(({ name, side }) => {
      const projector = side();
      return projector === undefined ? [] : [[name, totalOf(projector.removals.waiting())] as const];
    }),
  );
}

function partOf<Part>(parts: Parts | undefined, part: (parts: Parts) => Part): NonNullable<Part> | undefined {
  return parts && (part(parts) ?? undefined);
}

function ifConnected<Side>(stream: Stream | undefined, side: Side | undefined): Side | undefined {
  return stream?.isConnected() === true ? side : undefined;
}

type CellNeeds = StartNeeds & { cell: string; arrived(): void; opened(parts: Parts): void };

async function controlCell(stream: Stream, needs: CellNeeds): Promise<AsyncDisposable> {
  const { store, signer, settings, shared, cell, arrived, opened } = needs;
  // Two projectors and two recorders write the same lines.
  const log = needs.log.child({ cell });
  await using starting = new AsyncDisposableStack();
  const side = starting.use(await stream.controlSide());
  const record = starting.use(await stream.recordSide());
  const tails = starting.use(stream.tails());
  const asks = signer && starting.use(stream.asks(signer));
  const configWriter = await stream.configWriter(signer);
  const projector = starting.use(
    startProjector({ store, configWriter, cell, isReachable: stream.isConnected, arrived, log }),
  );
  starting.use(recordCell({ store, side: record, settings, shared, cell, log }));
  starting.use(stream.onSeen(recordSightings({ store, log })));
  starting.use(stream.onRefused(recordRefusals({ store, log })));
  opened({ side, record, tails, asks, projector });
  return starting.move();
}

/** The sides of all cells for compute. */
export function openComputeCells(
  main: ComputeSide,
  links: readonly CellLink[],
): AsyncDisposable & { side: ComputeSide } {
  const stack = new AsyncDisposableStack();
  const open = new Map<string, ComputeSide>();
  for (const { name, attach } of links) {
    stack.use(
      attach('compute', async (stream) => {
        const side = await stream.computeSide();
        open.set(name, side);
        return side;
      }),
    );
  }
  const others = links.map(({ name, stream }) => ({ name, side: () => ifConnected(stream(), open.get(name)) }));
  return { side: joinComputeSides(main, others), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

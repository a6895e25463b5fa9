/**
 * NATS as control sees it, over all cells. Reads need every cell: while one cannot be reached they fail, and the API says so, because
 * an answer without its part would be wrong. New work for a destination goes to the cell of its source.
 */
import { MAIN_CELL, nameInCell } from '../domain/configuration.ts';
import type { ControlSide } from '../stream/open-control-side.ts';
import { joinEventReaders } from './join-event-readers.ts';
import { joinLetters, joinQuarantines } from './join-boxes.ts';

export type CellSide<Side> = { name: string; side(): Side | undefined };

export type JoinNeeds = {
  main: ControlSide;
  others: readonly CellSide<ControlSide>[];
  /** Undefined when the destination is gone. */
  cellOf(destinationId: string): Promise<string | undefined>;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function joinControlSides({ main, others, cellOf }: JoinNeeds): ControlSide {
  if (others.length === 0) return main;
  const cells = [{ name: MAIN_CELL, side: () => main }, ...others];
  const open = (name: string): ControlSide => reached(cells.find((cell) => cell.name === name)?.side(), name);
  const all = () => cells.map(({ name }) => open(name));
  const of = async (destinationId: string) => open((await cellOf(destinationId)) ?? MAIN_CELL);
  const lists = <T>(list: (side: ControlSide) => T[] | undefined): T[] | undefined => {
    const known = cells.flatMap(({ side }) => side() ?? []).map(list);
    return known.every((each) => each === undefined) ? undefined : known.flatMap((each) => each ?? []);
  };
  return {
    ...main,
    each: all,
    lanes: {
      append: async (place, ...group) => (await of(place.destinationId)).lanes.append(place, ...group),
      read: async (place, ...range) => (await of(place.destinationId)).lanes.read(place, ...range),
      count: async (destinationId) => (await of(destinationId)).lanes.count(destinationId),
    },
    tickets: {
      ensure: async (destinationId, wanted) => (await of(destinationId)).tickets.ensure(destinationId, wanted),
      hurry: (destinationId, hurry) => hurryIn(cells, (side) => side.tickets.hurry(destinationId, hurry)),
    },
    deadLetters: joinLetters(cells.map(({ name }) => ({ name, box: () => open(name).deadLetters }))),
    letterCounts: async () => joinCounts(await fromEach(all, (side) => side.letterCounts())),
    letterBytes: async () => (await fromEach(all, (side) => side.letterBytes()))?.reduce((sum, each) => sum + each, 0),
    quarantine: joinQuarantines(cells.map(({ name }) => ({ name, box: () => open(name).quarantine }))),
    events: joinEventReaders(cells.map(({ name }) => ({ name, reader: () => open(name).events }))),
    async forget(names) {
      for (const side of all()) await side.forget(names);
    },
    async describeStreams() {
      const facts = await Promise.all(
        cells.map(async ({ name }) => ({ name, facts: await open(name).describeStreams() })),
      );
      return facts.flatMap((cell) => cell.facts.map((each) => ({ ...each, name: nameInCell(cell.name, each.name) })));
    },
    deliverProcesses: () => lists((side) => side.deliverProcesses()),
    processes: () => onceEach(lists((side) => side.processes())),
    async [Symbol.asyncDispose]() {},
  };
}

export function reached<Side>(side: Side | undefined, name: string): Side {
  if (side === undefined) throw new Error(`the cell ${name} cannot be reached`);
  return side;
}

/** A process of collect, control or compute is alive in every cell. */
function onceEach<T extends { id: string }>(processes: T[] | undefined): T[] | undefined {
  return processes && [...new Map(processes.toReversed().map((each) => [each.id, each])).values()].toReversed();
}

/** Undefined when one of them does not know. */
async function fromEach<T>(
  all: () => ControlSide[],
  ask: (side: ControlSide) => Promise<T | undefined>,
): Promise<T[] | undefined> {
  try {
    const answers = await Promise.all(all().map(ask));
    const known = answers.filter((each) => each !== undefined);
    return known.length === answers.length ? known : undefined;
  } catch {
    return undefined;
  }
}

function joinCounts(counts: ReadonlyMap<string, number>[] | undefined): ReadonlyMap<string, number> | undefined {
  if (counts === undefined) return undefined;
  const joined = new Map<string, number>();
  for (const [id, count] of counts.flatMap((each) => [...each])) joined.set(id, (joined.get(id) ?? 0) + count);
  return joined;
}

type Hurried = Awaited<ReturnType<ControlSide['tickets']['hurry']>>;
/** The first of these that a cell answers is the answer of all. */
const BEST_FIRST: readonly Hurried[] = ['hurried', 'held', 'unavailable', 'none'];

/** A moved source has lanes in several cells. */
async function hurryIn(
  cells: readonly CellSide<ControlSide>[],
  hurry: (side: ControlSide) => Promise<Hurried>,
): Promise<Hurried> {
  const answers = await Promise.all(
    cells.map(async ({ side }): Promise<Hurried> => {
      const open = side();
      return open === undefined ? 'unavailable' : hurry(open);
    }),
  );
  return BEST_FIRST.find((each) => answers.includes(each)) ?? 'none';
}

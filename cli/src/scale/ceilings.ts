/** How many events a second one of each component carries at this load, and so how many are needed. */
import { figure, type FigureName, isEstimate } from '../sizing/figures.ts';
import { cpuUsOf, type Part } from '../sizing/measured-costs.ts';
import { sizeInstallation } from '../sizing/size-installation.ts';
import { partOf, type ScaleLoad, serverSets } from './scale-load.ts';

export type Ceiling = {
  component: string;
  /** Events a second that one carries. */
  eventsPerSecond: number;
  /** Of these for the whole load. */
  needed: number;
  /** A process or a stream is multiplied in its place. NATS is one cluster in a cell, and PostgreSQL one in an installation. */
  multipliedBy: 'itself' | 'cells' | 'installations';
  isEstimate: boolean;
  /** For more than one carries. */
  remedy: string;
};

const US = 1_000_000;
const MANY_FAILING = 0.1;
/** Large enough that sizes rounded up to gigabytes do not matter. */
const SAMPLE_RATE = 1_000_000;

/** The lowest first: it is the first one that breaks when an installation with one of each grows. */
export function ceilingsOf(load: ScaleLoad): Ceiling[] {
  const { cells } = countsOf(load);
  return lowestFirst([...processCeilings(load, cells.count), ...streamCeilings(load), ...sharedCeilings(load)]);
}

export type Count = { count: number; decidedBy: string };

/** An installation has one PostgreSQL and one control API; a cell is one NATS cluster, and belongs to one installation. */
export function countsOf(load: ScaleLoad): { installations: Count; cells: Count } {
  const shared = lowestFirst(sharedCeilings(load));
  const most = (by: Ceiling['multipliedBy']): Count => {
    const first = shared.find(({ multipliedBy }) => multipliedBy === by);
    if (first === undefined || first.needed <= 1) return { count: 1, decidedBy: 'one is enough' };
    return { count: first.needed, decidedBy: `by ${first.component}` };
  };
  const [installations, cells] = [most('installations'), most('cells')];
  const count = Math.ceil(cells.count / installations.count) * installations.count;
  return { installations, cells: { ...cells, count } };
}

function lowestFirst(ceilings: readonly Ceiling[]): Ceiling[] {
  return ceilings.toSorted((one, other) => one.eventsPerSecond - other.eventsPerSecond);
}

type Known = Pick<Ceiling, 'component' | 'eventsPerSecond'> & Partial<Ceiling> & { from?: readonly FigureName[] };

/** Deliver depends on the destinations of its cell. */
function processCeilings(load: ScaleLoad, cells: number): Ceiling[] {
  const slots = figure('deliver.slots') * figure('plan.busy-slots');
  const slotRate = (slots * 1_000 * load.eventsPerPost) / load.answerMs / load.destinationsPerEvent;
  return needsOf(load, [
    {
      component: 'a collect process',
      eventsPerSecond: coreCeiling('collect', load, cells),
      remedy: 'more collect processes: MILLRACE_PROCESSES',
    },
    {
      component: 'a deliver process',
      eventsPerSecond: coreCeiling('deliver', load, cells),
      remedy: 'more deliver processes: MILLRACE_PROCESSES',
      from: [...deliverFigures(load, cells), ...failingFigures(load)],
    },
    {
      component: 'the slots of a deliver process',
      eventsPerSecond: slotRate,
      remedy: 'more deliver processes, or MILLRACE_MAX_IN_FLIGHT',
    },
    {
      component: 'a control process',
      eventsPerSecond: coreCeiling('control', load, cells),
      remedy: 'more control processes',
    },
  ]);
}

/** Those of TLS, and of destinations that left the cache. */
function deliverFigures({ hasTls, destinations }: ScaleLoad, cells: number): FigureName[] {
  const isCached = destinations / cells <= figure('deliver.cached-destinations');
  return [...(hasTls ? (['cpu.deliver.tls'] as const) : []), ...(isCached ? [] : (['cpu.deliver.open'] as const))];
}

/** They weigh little: an answer rests on them only where many deliveries fail. */
function failingFigures({ failingShare }: ScaleLoad): FigureName[] {
  return failingShare > MANY_FAILING ? ['cpu.deliver.failing'] : [];
}

function streamCeilings(load: ScaleLoad): Ceiling[] {
  return needsOf(load, [
    {
      component: 'an event stream',
      eventsPerSecond: figure('stream.requests') * load.callsPerRequest,
      remedy: 'MILLRACE_EVENT_STREAMS, or larger batches',
      from: ['stream.requests'],
    },
    {
      component: 'a stream of outcomes',
      eventsPerSecond: (figure('record.per-second') * figure('plan.busy-core')) / load.destinationsPerEvent,
      remedy: 'MILLRACE_OUTCOME_STREAMS',
    },
  ]);
}

function sharedCeilings(load: ScaleLoad): Ceiling[] {
  const sets = serverSets(load);
  const ofCells = needsOf(load, [
    {
      component: 'all event streams of a cell',
      eventsPerSecond: figure('stream.requests') * load.callsPerRequest * figure('streams.most'),
      from: ['stream.requests'],
    },
    { component: 'a cell', eventsPerSecond: figure('cell.events'), from: ['cell.events'] },
    {
      component: 'the cores of NATS in a cell',
      eventsPerSecond: sets * figure('plan.nats-cores') * coreCeiling('nats', load),
    },
    { component: 'the disks of NATS in a cell', eventsPerSecond: sets * diskCeiling(load) },
  ]);
  const ofInstallations = needsOf(load, [
    {
      component: 'a PostgreSQL server',
      eventsPerSecond: figure('plan.postgres-cores') * coreCeiling('postgres', load),
      remedy: 'MILLRACE_RECORD_ROWS, then more installations',
      multipliedBy: 'installations',
      from: load.rowsKept < 1 ? ['cpu.postgres.plain'] : [],
    },
  ]);
  return [
    ...ofCells.map((each) => ({ ...each, multipliedBy: 'cells' as const, remedy: 'more cells' })),
    ...ofInstallations,
  ];
}

/** One core, planned for two thirds. */
function coreCeiling(part: Part, load: ScaleLoad, cells = 1): number {
  return (figure('plan.busy-core') * US) / cpuUsOf(part, partOf(load, cells));
}

/** Of one set of servers, each of which stores every message of its streams. */
function diskCeiling(load: ScaleLoad): number {
  const { nats } = sizeInstallation(partOf({ ...load, eventsPerSecond: SAMPLE_RATE }, 1));
  return (SAMPLE_RATE * load.diskBytes) / nats.diskBytes;
}

function needsOf(load: ScaleLoad, known: readonly Known[]): Ceiling[] {
  return known.map(({ from = [], ...each }) => ({
    needed: Math.max(1, Math.ceil(load.eventsPerSecond / each.eventsPerSecond)),
    multipliedBy: 'itself',
    isEstimate: from.some(isEstimate),
    remedy: '',
    ...each,
  }));
}

/** From a load to installations, cells, servers, processes, disks, memory, network and a monthly cost. Pure. */
import { figure } from '../sizing/figures.ts';
import { type Machine, sizeInstallation, type Sizing } from '../sizing/size-installation.ts';
import { type Ceiling, ceilingsOf, type Count, countsOf } from './ceilings.ts';
import { type Cost, costOf, type Hardware } from './cost.ts';
import type { Prices } from './prices.ts';
import { partOf, type ScaleLoad } from './scale-load.ts';
import { type Traffic, trafficOf } from './traffic.ts';

export type ScalePart = {
  part: 'collect' | 'deliver' | 'control' | 'nats' | 'postgres';
  /** Over all cells; so are the other figures. */
  processes: number;
  machines: number;
  cores: number;
  memoryBytes: number;
  diskBytes: number;
};
export type ScalePlan = {
  installations: Count;
  cells: Count;
  parts: ScalePart[];
  /** In each cell. */
  streams: Sizing['streams'];
  settings: Sizing['settings'];
  traffic: Traffic;
  /** The component of which one carries least. */
  breaksFirst: string;
  ceilings: Ceiling[];
  warnings: string[];
  cost: Cost;
};

/** One cell or one installation, and how many of it there are. */
type Unit = Sizing & { count: number };

const LEAST_ENGINE_CORES = 2;

export function planScale(load: ScaleLoad, prices: Prices): ScalePlan {
  const { installations, cells } = countsOf(load);
  const whole: Unit = { ...sizeInstallation(partOf(load, installations.count)), count: installations.count };
  const cell: Unit = { ...sizeInstallation(partOf(load, cells.count)), count: cells.count };
  const parts = partsOf(load, whole, cell);
  const traffic = trafficOf(load, cells.count);
  const ceilings = ceilingsOf(load);
  const mean = { meanEventsPerSecond: load.eventsPerSecond / load.peakFactor, peakFactor: load.peakFactor };
  return {
    installations,
    cells,
    parts,
    streams: cell.streams,
    settings: settingsOf(load, whole, cell),
    traffic,
    breaksFirst: ceilings[0]?.component ?? '',
    ceilings,
    warnings: warningsOf(load, whole, cell),
    cost: costOf({ hardware: sumOf(parts), traffic, ...mean }, prices),
  };
}

/** Collect and control serve all cells of an installation, a deliver process serves one cell. */
function partsOf(load: ScaleLoad, whole: Unit, cell: Unit): ScalePart[] {
  const role = (part: 'collect' | 'deliver' | 'control', unit: Unit): ScalePart => {
    const { processes, memoryBytes } = unit[part];
    return {
      part,
      processes: processes * unit.count,
      machines: Math.ceil(processes / load.coresPerMachine) * unit.count,
      // A process has a core of its own, busy or not.
      cores: processes * unit.count,
      memoryBytes: memoryBytes * unit.count,
      diskBytes: 0,
    };
  };
  return [
    role('collect', whole),
    role('deliver', cell),
    role('control', whole),
    enginePart('nats', spread(cell.nats, load), cell.count),
    enginePart('postgres', whole.postgres, whole.count),
  ];
}

/** The same streams on as many sets of servers as their disks ask for. */
function spread(nats: Sizing['nats'], load: ScaleLoad): Sizing['nats'] {
  const sets = Math.max(1, Math.ceil(nats.diskBytes / load.diskBytes));
  return { ...nats, processes: nats.processes * sets, cores: nats.cores / sets, diskBytes: nats.diskBytes / sets };
}

function enginePart(part: 'nats' | 'postgres', each: Machine & { diskBytes: number }, count: number): ScalePart {
  const processes = each.processes * count;
  const cores = Math.max(LEAST_ENGINE_CORES, Math.ceil(each.cores / figure('plan.busy-core')));
  return {
    part,
    processes,
    machines: processes,
    cores: cores * processes,
    memoryBytes: Math.max(each.memoryBytes, cores * figure('plan.engine-memory')) * processes,
    diskBytes: each.diskBytes * processes,
  };
}

function sumOf(parts: readonly ScalePart[]): Hardware {
  const sum = (of: keyof Hardware) => parts.reduce((total, part) => total + part[of], 0);
  return { cores: sum('cores'), memoryBytes: sum('memoryBytes'), diskBytes: sum('diskBytes') };
}

function settingsOf(load: ScaleLoad, whole: Unit, cell: Unit): Sizing['settings'] {
  const most = Math.max(whole.collect.processes, cell.deliver.processes);
  return {
    ...cell.settings,
    MILLRACE_RECORD_ROWS: String(load.rowsKept),
    MILLRACE_PROCESSES: String(Math.min(load.coresPerMachine, most)),
  };
}

/** Each warning names the setting or the flag that helps. */
function warningsOf(load: ScaleLoad, { postgres }: Unit, { streams, count }: Unit): string[] {
  const opened = figure('deliver.cached-destinations');
  const warnings: readonly [boolean, string][] = [
    [
      postgres.diskBytes > load.diskBytes,
      'The record does not fit on one disk: lower MILLRACE_RECORD_ROWS (--rows) or MILLRACE_RECORD_RETENTION (--record).',
    ],
    [
      streams.outcomes > figure('streams.most'),
      'A cell needs more streams of outcomes than the server takes: lower --fanout.',
    ],
    [
      load.destinations / count > opened,
      `A cell has more destinations than the ${opened} that a deliver process keeps opened: most deliveries open theirs again.`,
    ],
    [count > 1, 'The capacity of a cell is an estimate: measure one cell of yours before you plan with many.'],
  ];
  return warnings.filter(([isTrue]) => isTrue).map(([, warning]) => warning);
}

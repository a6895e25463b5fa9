/** A sizing as people read it, in the terminal and on the page. */
import { figure } from './figures.ts';
import type { Machine, Sizing } from './size-installation.ts';

/** Less than a hundredth of a core is no figure to plan with. */
const LEAST_CORES = 0.01;

export type SizingRow = { part: string; count: string; cores: string; memory: string; disk: string };

export function sizingRows({ collect, deliver, control, nats, postgres }: Sizing): SizingRow[] {
  const role = (part: string, machine: Machine) => ({ ...rowOf(part, machine, machine.processes), disk: '–' });
  return [
    role('collect', collect),
    role('deliver', deliver),
    role('control', control),
    { ...rowOf('NATS', nats, 1), count: `${nats.processes}`, disk: bytes(nats.diskBytes) },
    { ...rowOf('PostgreSQL', postgres, 1), disk: bytes(postgres.diskBytes) },
  ];
}

/** The figures of one process; Sizing has those of all processes of a role. */
function rowOf(part: string, { processes, cores, memoryBytes }: Machine, among: number): Omit<SizingRow, 'disk'> {
  return {
    part,
    count: String(processes),
    cores: decimals(Math.max(LEAST_CORES, cores / among)),
    memory: bytes(memoryBytes / among),
  };
}

export function describeSizing(sizing: Sizing): string {
  const { peak, nats, streams, connections, settings } = sizing;
  const head = { part: '', count: 'processes', cores: 'cores each', memory: 'memory each', disk: 'disk each' };
  const table = [head, ...sizingRows(sizing)].map(({ part, count, cores, memory, disk }) =>
    [part.padEnd(12), count.padStart(9), cores.padStart(12), memory.padStart(13), disk.padStart(11)].join('').trimEnd(),
  );
  return [
    `At the peak: ${whole(peak.eventsPerSecond)} events, ${whole(peak.requestsPerSecond)} requests and ${whole(peak.deliveriesPerSecond)} deliveries a second.`,
    '',
    ...table,
    '',
    `NATS: max_file_store ${bytes(nats.maxFileStoreBytes)} on each server, decided by ${nats.decidedBy}.`,
    `Streams: ${streams.events} for events, ${streams.lanes} for lanes, ${streams.outcomes} for outcomes.`,
    `Connections: ${connections.nats} to NATS, up to ${connections.postgres} to PostgreSQL, about ${connections.receivers} to receivers at a time.`,
    `Settings: ${Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`,
    'An estimate, not measured: the requests that one event stream takes (docs/measurements/figures.md).',
    ...tooMany(streams),
  ].join('\n');
}

function tooMany({ events, lanes, outcomes }: Sizing['streams']): string[] {
  const most = figure('streams.most');
  if (Math.max(events, lanes, outcomes) <= most) return [];
  const advice = 'Use larger batches, or plan cells with npm run scale.';
  return [`Note: the server takes ${most} streams of a kind at most. ${advice}`];
}

export function bytes(count: number): string {
  if (count >= 1e12) return `${decimals(count / 1e12)} TB`;
  if (count >= 1e9) return `${decimals(count / 1e9)} GB`;
  return `${whole(count / 1e6)} MB`;
}

function whole(value: number): string {
  return Math.ceil(value).toLocaleString('en-US');
}

/** Two digits that count. */
function decimals(value: number): string {
  return value >= 10 ? whole(value) : String(Number(value.toPrecision(2)));
}

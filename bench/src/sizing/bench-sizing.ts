import { loadavg } from 'node:os';
import { freePorts } from '@millrace/engines';
import {
  cpuUsOf,
  deadLetterBytesOf,
  laneBytesOf,
  MEMORY_BYTES,
  NATS_CONNECTIONS,
  POSTGRES_CONNECTIONS,
  recordedBytesOf,
  storedBytesOf,
} from '../../../cli/src/sizing/measured-costs.ts';
import { useAllCores } from '../replay/installation.ts';
import { type Receivers, startReceivers } from '../replay/start-receivers.ts';
import type { Verdict } from '../run.ts';
import { type Installation, openInstallation, type Part, PARTS } from './installation.ts';
import { type Bench, type Load, measureIdle, measureLoad, measureUndelivered, WARM_UP_EVENTS } from './measure-load.ts';

/** One answer of the calculator beside the measured figure. */
type Row = { what: string; measured: number; calculated: number; ratio: number; isLimit?: boolean };

type Cpu = { measured: number; calculated: number };

const LOADS: readonly Load[] = [
  { name: 'batches', events: 20_000, callsPerRequest: 20, padding: 0, destinations: 2 },
  { name: 'single', events: 4_000, callsPerRequest: 1, padding: 0, destinations: 1 },
  { name: 'large', events: 8_000, callsPerRequest: 50, padding: 1_400, destinations: 3 },
];
const GOAL = 0.3;
const ROLES = ['collect', 'deliver', 'control'] as const;

/** Holds the sizing calculator against a small real load: bytes, CPU time, memory and connections. Wall time does not count. */
export async function benchSizing({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  useAllCores();
  const loads = LOADS.map((load) => (isQuick ? { ...load, events: load.events / 4 } : load));
  await using receivers = await startReceivers();
  await using stack = await openInstallation();
  const database = stack.databaseBytes();
  const rows = await loadRows({ stack, receivers, idle: await measureIdle(stack) }, loads);
  rows.push(
    databaseRow(loads, stack.databaseBytes() - database),
    ...connectionRows(stack),
    ...(await undeliveredRows(stack, receivers)),
  );
  for (const each of rows) print(each);
  const off = rows.filter((each) => !isHeld(each)).map(({ what }) => what);
  return { isGood: off.length === 0, figures: { bench: 'sizing', rows, off, goal: GOAL, load: loadavg()[0] } };
}

/** A limit must not be exceeded; every other answer is right within the goal. */
function isHeld({ ratio, isLimit = false }: Row): boolean {
  return ratio >= (isLimit ? 1 : 1 - GOAL) && (isLimit || ratio <= 1 + GOAL);
}

/**
 * CPU time on a shared machine is held in two sums, of each part over all loads and of each load over all parts: one part under one
 * load is a fraction of a second, which a busy neighbour changes by half. Those figures are printed only.
 */
async function loadRows(bench: Bench, loads: readonly Load[]): Promise<Row[]> {
  const rows: Row[] = [];
  const cpu: (Cpu & { load: string; part: Part })[] = [];
  let memoryBytes: Partial<Record<Part, number>> = {};
  for (const load of loads) {
    const measured = await measureLoad(bench, load);
    const shape = shapeOf(load, measured.eventBytes);
    rows.push(row(`bytes of an event, ${load.name}`, measured.streamBytes['events'] ?? 0, storedBytesOf(shape)));
    for (const part of PARTS) {
      const [measuredUs, calculatedUs] = [measured.cpuUs[part], cpuUsOf(part, shape)];
      print(row(`CPU of ${part} for an event, µs, ${load.name}`, measuredUs, calculatedUs));
      cpu.push({ load: load.name, part, measured: measuredUs * load.events, calculated: calculatedUs * load.events });
    }
    ({ memoryBytes } = measured);
  }
  for (const part of PARTS)
    rows.push(
      sumRow(
        `CPU of ${part}, ms, all loads`,
        cpu.filter((each) => each.part === part),
      ),
    );
  for (const { name } of loads)
    rows.push(
      sumRow(
        `CPU of all parts, ms, ${name}`,
        cpu.filter(({ load }) => load === name),
      ),
    );
  // Memory after all loads: a process that has just started has not filled its heap.
  for (const part of PARTS) rows.push(row(`memory of ${part}`, memoryBytes[part] ?? 0, MEMORY_BYTES[part]));
  return rows;
}

function sumRow(what: string, cpu: readonly Cpu[]): Row {
  const sum = (of: keyof Cpu) => cpu.reduce((total, each) => total + each[of] / 1_000, 0);
  return row(what, sum('measured'), sum('calculated'));
}

/** Over all loads: PostgreSQL fills the pages of its indexes by and by. */
function databaseRow(loads: readonly Load[], bytes: number): Row {
  const deliveries = loads.reduce((sum, { events, destinations }) => sum + (events + WARM_UP_EVENTS) * destinations, 0);
  const shape = { eventBytes: 0, callsPerRequest: 1, destinationsPerEvent: 1 };
  return row('bytes of a delivery in PostgreSQL', bytes / deliveries, recordedBytesOf(shape));
}

function connectionRows(stack: Installation): Row[] {
  return [
    ...ROLES.map((role) => row(`connections of ${role} to NATS`, stack.natsConnections(role), NATS_CONNECTIONS[role])),
    { ...row('connections to PostgreSQL', stack.postgresConnections(), POSTGRES_CONNECTIONS), isLimit: true },
  ];
}

async function undeliveredRows(stack: Installation, receivers: Receivers): Promise<Row[]> {
  const load = { name: 'undelivered', events: 2_000, callsPerRequest: 20, padding: 0, destinations: 1 };
  const shape = shapeOf(load, 657);
  await receivers.refuse(true);
  const dead = await measureUndelivered(stack, { ...load, name: 'dead' }, receivers.hookUrl, 'dead');
  const [port = 0] = await freePorts(1);
  const lanes = await measureUndelivered(stack, load, `http://127.0.0.1:${port}/`, 'lanes');
  return [
    row('bytes of a dead letter', dead, deadLetterBytesOf(shape)),
    row('bytes of a waiting delivery', lanes, laneBytesOf(shape)),
  ];
}

function shapeOf({ callsPerRequest, destinations }: Load, eventBytes: number) {
  return { eventBytes, callsPerRequest, destinationsPerEvent: destinations };
}

function row(what: string, measured: number, calculated: number): Row {
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    what,
    measured: round(measured),
    calculated: round(calculated),
    ratio: Math.round((calculated / measured) * 100) / 100,
  };
}

function print({ what, measured, calculated, ratio }: Row): void {
  console.error(`${what}: ${measured} measured, ${calculated} calculated, ${ratio}`);
}

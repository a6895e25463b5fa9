import { freePorts } from '@millrace/engines';
import {
  deadLetterBytesOf,
  laneBytesOf,
  MEMORY_BYTES,
  NATS_CONNECTIONS,
  POSTGRES_CONNECTIONS,
  recordedBytesOf,
} from '../../../cli/src/sizing/measured-costs.ts';
import { useAllCores } from '../pin.ts';
import { type Receivers, startReceivers } from '../replay/start-receivers.ts';
import type { Verdict } from '../run.ts';
import {
  bytesRow,
  cpuRows,
  type MeasuredLoad,
  measureRounds,
  row,
  ROUNDS,
  type Row,
  shapeOf,
  verdictOf,
} from './compare.ts';
import { type Installation, openInstallation, PARTS } from './installation.ts';
import { type Load, measureIdle, measureUndelivered, WARM_UP_EVENTS } from './measure-load.ts';

const LOADS: readonly Load[] = [
  { name: 'batches', events: 20_000, callsPerRequest: 20, padding: 0, destinations: 2 },
  { name: 'single', events: 4_000, callsPerRequest: 1, padding: 0, destinations: 1 },
  { name: 'large', events: 8_000, callsPerRequest: 50, padding: 1_400, destinations: 3 },
];
const ROLES = ['collect', 'deliver', 'control'] as const;

/** Holds the sizing calculator against a small real load: bytes, CPU time, memory and connections. Wall time does not count. */
export async function benchSizing({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  useAllCores();
  const loads = LOADS.map((load) => (isQuick ? { ...load, events: load.events / 4 } : load));
  const rounds = isQuick ? 1 : ROUNDS;
  await using receivers = await startReceivers();
  await using stack = await openInstallation();
  const database = stack.databaseBytes();
  const bench = { stack, receivers, idle: await measureIdle(stack, isQuick) };
  const measured = await measureRounds(bench, loads, rounds);
  const rows = loadRows(measured, loads);
  rows.push(
    databaseRow(loads, (stack.databaseBytes() - database) / rounds),
    ...connectionRows(stack),
    ...(await undeliveredRows(stack, receivers)),
  );
  return verdictOf('sizing', measured, rows);
}

function loadRows(measured: readonly MeasuredLoad[], loads: readonly Load[]): Row[] {
  // Memory after all loads: a process that has just started has not filled its heap.
  const memoryBytes = measured.at(-1)?.memoryBytes;
  return [
    ...loads.map((load) => bytesRow(measured.find((each) => each.load === load))),
    ...cpuRows(measured, loads),
    ...PARTS.map((part) => row(`memory of ${part}`, memoryBytes?.[part] ?? 0, MEMORY_BYTES[part])),
  ];
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
  const shape = shapeOf(load, { eventBytes: 657, eventsPerPost: 1 });
  await receivers.refuse(true);
  const dead = await measureUndelivered(stack, { ...load, name: 'dead' }, receivers.hookUrl, 'dead');
  const [port = 0] = await freePorts(1);
  const lanes = await measureUndelivered(stack, load, `http://127.0.0.1:${port}/`, 'lanes');
  return [
    row('bytes of a dead letter', dead, deadLetterBytesOf(shape)),
    row('bytes of a waiting delivery', lanes, laneBytesOf(shape)),
  ];
}

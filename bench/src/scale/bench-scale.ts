import { loadavg } from 'node:os';
import { figure } from '../../../cli/src/sizing/figures.ts';
import { useAllCores } from '../replay/installation.ts';
import { startReceivers } from '../replay/start-receivers.ts';
import type { BenchOptions, Verdict } from '../run.ts';
import {
  bytesRow,
  cpuRows,
  GOAL,
  isHeld,
  measureRounds,
  type MeasuredLoad,
  print,
  row,
  ROUNDS,
  type Row,
} from '../sizing/compare.ts';
import { openInstallation } from '../sizing/installation.ts';
import { type Load, measureIdle } from '../sizing/measure-load.ts';

const LOADS: readonly Load[] = [
  { name: 'single calls', events: 4_000, callsPerRequest: 1, padding: 0, destinations: 1 },
  { name: 'batches of 20', events: 20_000, callsPerRequest: 20, padding: 0, destinations: 1 },
  { name: 'large bodies', events: 6_000, callsPerRequest: 20, padding: 7_400, destinations: 1 },
  { name: '2 % failing', events: 20_000, callsPerRequest: 20, padding: 0, destinations: 1, failingShare: 0.02 },
];

/** Holds the predictions of `npm run scale` against four small loads on this machine: CPU time and bytes of an event. */
export async function benchScale({ isQuick }: BenchOptions): Promise<Verdict> {
  useAllCores();
  const loads = LOADS.map((load) => (isQuick ? { ...load, events: load.events / 4 } : load));
  await using receivers = await startReceivers();
  await using stack = await openInstallation();
  const bench = { stack, receivers, idle: await measureIdle(stack) };
  const measured = await measureRounds(bench, loads, isQuick ? 1 : ROUNDS);
  const rows = [
    ...cpuRows(measured, loads),
    ...loads.flatMap((load) => bytesRows(measured.find((each) => each.load === load))),
  ];
  for (const each of rows) print(each);
  const off = rows.filter((each) => !isHeld(each)).map(({ what }) => what);
  return { isGood: off.length === 0, figures: { bench: 'scale', rows, off, goal: GOAL, load: loadavg()[0] } };
}

function bytesRows(measured: MeasuredLoad | undefined): Row[] {
  if (measured === undefined) throw new Error('no load was measured');
  const { load, postBytes, eventBytes } = measured;
  return [bytesRow(measured), row(`bytes of a POST, ${load.name}`, postBytes, eventBytes + figure('bytes.http-out'))];
}

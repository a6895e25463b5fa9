import { postBytesOf } from '../../../cli/src/sizing/measured-costs.ts';
import { useAllCores } from '../pin.ts';
import { startReceivers } from '../replay/start-receivers.ts';
import type { BenchOptions, Verdict } from '../run.ts';
import {
  bytesRow,
  cpuRows,
  isHeld,
  measureRounds,
  type MeasuredLoad,
  row,
  ROUNDS,
  type Row,
  shapeOf,
  verdictOf,
} from '../sizing/compare.ts';
import { openInstallation } from '../sizing/installation.ts';
import { type Load, measureIdle } from '../sizing/measure-load.ts';

const LOADS: readonly Load[] = [
  { name: 'single calls', events: 4_000, callsPerRequest: 1, padding: 0, destinations: 1 },
  { name: 'batches of 20', events: 20_000, callsPerRequest: 20, padding: 0, destinations: 1 },
  { name: 'large bodies', events: 6_000, callsPerRequest: 20, padding: 7_400, destinations: 1 },
  { name: '2 % failing', events: 20_000, callsPerRequest: 20, padding: 0, destinations: 1, failingShare: 0.02 },
];
/** Those that operators ask about. Three rounds take about four minutes on two cores. */
const CHECKED: readonly Load[] = [
  { name: 'single events', events: 3_000, callsPerRequest: 1, padding: 0, destinations: 1 },
  { name: 'batches of 20', events: 16_000, callsPerRequest: 20, padding: 0, destinations: 1 },
  {
    name: 'batched webhooks',
    events: 16_000,
    callsPerRequest: 20,
    padding: 0,
    destinations: 1,
    bodyFormat: 'batch',
  },
  // A quarter of the deliveries is for it.
  {
    name: 'one destination failing',
    events: 12_000,
    callsPerRequest: 20,
    padding: 0,
    destinations: 1,
    failingShare: 0.25,
  },
];

/** Deliveries that fail are given up after 14 to 28 seconds, in place of four hours: their whole lives are measured. */
const SETTINGS = { MILLRACE_RETRY_SCALE: '1000' };

/** Holds the predictions of `npm run scale` against four small loads on this machine: CPU time and bytes of an event. */
export function benchScale(options: BenchOptions): Promise<Verdict> {
  return compareLoads('scale', LOADS, options);
}

/** `npm run scale -- --check`: the same with other loads. */
export function benchScaleCheck(options: BenchOptions): Promise<Verdict> {
  return compareLoads('scale-check', CHECKED, options);
}

async function compareLoads(bench: string, full: readonly Load[], { isQuick }: BenchOptions): Promise<Verdict> {
  useAllCores();
  const loads = isQuick ? full.map(tiny) : full;
  await using receivers = await startReceivers();
  await using stack = await openInstallation(SETTINGS);
  const scene = { stack, receivers, idle: await measureIdle(stack, isQuick) };
  const measured = await measureRounds(scene, loads, isQuick ? 1 : ROUNDS);
  const cpu = cpuRows(measured, loads);
  const bytes = loads.flatMap((load) => bytesRows(measured.find((each) => each.load === load)));
  return verdictOf(bench, measured, [...cpu, ...bytes], judged(cpu, bytes, isQuick));
}

/** The rows that are too far off. CPU time of a tiny run says nothing. */
export function judged(cpu: readonly Row[], bytes: readonly Row[], isTiny: boolean): Row[] {
  return [...(isTiny ? [] : cpu), ...bytes].filter((each) => !isHeld(each));
}

/** Shows that the bench works: most of its CPU time is code that was never run before. */
function tiny(load: Load): Load {
  return { ...load, events: load.events / 20, warmUpEvents: 200 };
}

function bytesRows(measured: MeasuredLoad | undefined): Row[] {
  if (measured === undefined) throw new Error('no load was measured');
  const { load, postBytes } = measured;
  // The destinations of the bench have no secret.
  const calculated = postBytesOf(shapeOf(load, measured), false);
  return [bytesRow(measured), row(`bytes of a POST, ${load.name}`, postBytes, calculated)];
}

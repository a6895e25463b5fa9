/** Answers of the calculators beside measured figures. */
import { loadavg } from 'node:os';
import { figure } from '../../../cli/src/sizing/figures.ts';
import { cpuUsOf, type EventShape, storedBytesOf } from '../../../cli/src/sizing/measured-costs.ts';
import type { Verdict } from '../run.ts';
import { median, round as twoDigits } from '../spread.ts';
import { type Part, PARTS } from './installation.ts';
import { type Bench, type Load, type Measured, measureLoad } from './measure-load.ts';
import { watchPace } from './watch-pace.ts';

/** One answer of the calculator beside the measured figure. */
export type Row = { what: string; measured: number; calculated: number; ratio: number; isLimit?: boolean };
export type MeasuredLoad = Measured & { load: Load };

type Cpu = { measured: number; calculated: number };

const GOAL = 0.3;
/** Neighbours of a shared machine change CPU time for minutes: each load comes again after the others, and the middle one counts. */
export const ROUNDS = 3;

/** A limit must not be exceeded; every other answer is right within the goal. */
export function isHeld({ ratio, isLimit = false }: Row): boolean {
  return ratio >= (isLimit ? 1 : 1 - GOAL) && (isLimit || ratio <= 1 + GOAL);
}

export async function measureRounds(bench: Bench, loads: readonly Load[], rounds: number): Promise<MeasuredLoad[]> {
  await using pace = await watchPace();
  const measured: MeasuredLoad[] = [];
  for (let round = 1; round <= rounds; round += 1)
    for (const load of loads)
      measured.push({ load, ...(await measureLoad(bench, { ...load, name: `${load.name}-${round}` }, pace)) });
  return measured;
}

/**
 * CPU time on a shared machine is held in two sums, of each part over all loads and of each load over all parts: one part under one
 * load is a fraction of a second, which a busy neighbour changes by half. Those figures are printed only.
 */
export function cpuRows(measured: readonly MeasuredLoad[], loads: readonly Load[]): Row[] {
  const cpu = loads.flatMap((load) => cpuOf(measured.filter((each) => each.load === load)));
  return [
    ...PARTS.map((part) =>
      sumRow(
        `CPU of ${part}, ms, all loads`,
        cpu.filter((each) => each.part === part),
      ),
    ),
    ...loads.map(({ name }) =>
      sumRow(
        `CPU of all parts, ms, ${name}`,
        cpu.filter(({ load }) => load === name),
      ),
    ),
  ];
}

export function bytesRow(measured: MeasuredLoad | undefined): Row {
  if (measured === undefined) throw new Error('no load was measured');
  const { load, streamBytes } = measured;
  return row(`bytes of an event, ${load.name}`, streamBytes['events'] ?? 0, storedBytesOf(shapeOf(load, measured)));
}

/** Prints the rows. Good when none is too far off. */
export function verdictOf(
  bench: string,
  measured: readonly MeasuredLoad[],
  rows: readonly Row[],
  tooFarOff: readonly Row[] = rows.filter((each) => !isHeld(each)),
): Verdict {
  for (const each of rows) print(each);
  const off = tooFarOff.map(({ what }) => what);
  const slowness = measured.map((each) => twoDigits(slownessOf(each)));
  return { isGood: off.length === 0, figures: { bench, rows, off, slowness, goal: GOAL, load: loadavg()[0] } };
}

/**
 * How many times as long as that of the figures the processor took in this round. Where its neighbours work, the same processor takes up to
 * twice as long as where they rest, so measured CPU time is divided by this.
 */
function slownessOf({ pieceUs }: MeasuredLoad): number {
  return pieceUs / figure('cpu.piece');
}

/** The middle CPU time of each part over the rounds of one load. */
function cpuOf(rounds: readonly MeasuredLoad[]): (Cpu & { load: string; part: Part })[] {
  return PARTS.flatMap((part) => {
    const [first] = rounds;
    if (first === undefined) return [];
    const { load, eventBytes } = first;
    const eventsPerPost = median(rounds.map((round) => round.eventsPerPost));
    const measuredUs = median(rounds.map((round) => round.cpuUs[part] / slownessOf(round)));
    const calculatedUs = cpuUsOf(part, shapeOf(load, { eventBytes, eventsPerPost }));
    print(row(`CPU of ${part} for an event, µs, ${load.name}`, measuredUs, calculatedUs));
    return [{ load: load.name, part, measured: measuredUs * load.events, calculated: calculatedUs * load.events }];
  });
}

function sumRow(what: string, cpu: readonly Cpu[]): Row {
  const sum = (of: keyof Cpu) => cpu.reduce((total, each) => total + each[of] / 1_000, 0);
  return row(what, sum('measured'), sum('calculated'));
}

/** The question to the calculator. How many events come in one POST depends on the pace of the machine, so it is taken from the run. */
export function shapeOf(
  { callsPerRequest, destinations, failingShare = 0 }: Load,
  { eventBytes, eventsPerPost }: Pick<Measured, 'eventBytes' | 'eventsPerPost'>,
): EventShape {
  return { eventBytes, eventsPerPost, callsPerRequest, destinationsPerEvent: destinations, failingShare };
}

export function row(what: string, measured: number, calculated: number): Row {
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

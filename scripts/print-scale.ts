/** `node scripts/print-scale.ts --write`: the tables of docs/run/scale.md that the calculator answers. A test expects them there. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ceiling, ceilingsOf } from '../cli/src/scale/ceilings.ts';
import { planScale } from '../cli/src/scale/plan-scale.ts';
import { EXAMPLE_PRICES, readPrices } from '../cli/src/scale/prices.ts';
import { type ScaleLoad, USUAL_LOAD } from '../cli/src/scale/scale-load.ts';
import { bytes } from '../cli/src/sizing/describe-sizing.ts';
import { ROOT_DIR } from './project-files.ts';

export const SCALE_PAGE = 'docs/run/scale.md';

/** The load that the page speaks of, at its lowest rate. */
export const PAGE_LOAD: ScaleLoad = {
  ...USUAL_LOAD,
  eventsPerSecond: 10_000,
  destinations: 100_000,
  rowsKept: 0.01,
};
const RATES = [10_000, 100_000, 1_000_000];
const SIZES_HEAD =
  '| events a second | cells | NATS servers | streams of a cell: events + outcomes | collect | deliver | control | cores of PostgreSQL | disks of NATS | disk of PostgreSQL | to receivers, a second | USD a month |';
const CEILINGS_HEAD = '| component | carries, events a second | for more |';

/** The page with its tables printed anew. */
export function withTables(page: string): string {
  return [sizesTable(), ceilingsTable()].reduce(withTable, page);
}

function withTable(page: string, table: readonly string[]): string {
  const [head = ''] = table;
  const [before, after, ...others] = page.split(`${head}\n`);
  if (after === undefined || others.length > 0) throw new Error(`${SCALE_PAGE} has to have this line once: ${head}`);
  return `${before}${table.join('\n')}\n${after.replace(/^(\|.*\n)*/, '')}`;
}

function sizesTable(): string[] {
  return [SIZES_HEAD, rule(SIZES_HEAD), ...RATES.map(sizeLine)];
}

function sizeLine(eventsPerSecond: number): string {
  const read = readPrices(EXAMPLE_PRICES);
  if (!read.ok) throw new Error(read.problem);
  const plan = planScale({ ...PAGE_LOAD, eventsPerSecond }, read.prices);
  const part = (name: string) => plan.parts.find((each) => each.part === name);
  return line([
    whole(eventsPerSecond),
    plan.cells.count,
    part('nats')?.processes ?? 0,
    `${plan.streams.events} + ${plan.streams.outcomes}`,
    part('collect')?.processes ?? 0,
    part('deliver')?.processes ?? 0,
    part('control')?.processes ?? 0,
    part('postgres')?.cores ?? 0,
    bytes(part('nats')?.diskBytes ?? 0),
    bytes(part('postgres')?.diskBytes ?? 0),
    bytes(plan.traffic.outBytes),
    whole(plan.cost.total),
  ]);
}

/** With the two that another flag changes most. */
function ceilingsTable(): string[] {
  const other = (name: string, change: Partial<ScaleLoad>, words: string): Ceiling[] =>
    ceilingsOf({ ...PAGE_LOAD, ...change })
      .filter(({ component }) => component === name)
      .map((each) => ({ ...each, component: `${name}, ${words}` }));
  const rows = [
    ...ceilingsOf(PAGE_LOAD),
    ...other('a collect process', { callsPerRequest: 1 }, 'single calls'),
    ...other('a deliver process', { eventsPerPost: 20 }, '20 events in a POST'),
    ...other('a PostgreSQL server', { rowsKept: 1 }, 'a row for each delivery'),
  ].toSorted((one, next) => one.eventsPerSecond - next.eventsPerSecond);
  return [CEILINGS_HEAD, rule(CEILINGS_HEAD), ...rows.map(ceilingText)];
}

function ceilingText({ component, eventsPerSecond, isEstimate, remedy }: Ceiling): string {
  const carries = `${whole(eventsPerSecond)}${isEstimate ? ', from an estimate' : ''}`;
  return line([component, carries, remedy.replaceAll(/MILLRACE_\w+/g, '`$&`')]);
}

function line(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

function rule(head: string): string {
  return '|---'.repeat(head.split('|').length - 2).concat('|');
}

/** Three digits that count are more than any of the figures has. */
function whole(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US');
}

if (import.meta.main) {
  const file = join(ROOT_DIR, SCALE_PAGE);
  const page = withTables(readFileSync(file, 'utf8'));
  console.log(page);
  if (process.argv.includes('--write')) writeFileSync(file, page);
}

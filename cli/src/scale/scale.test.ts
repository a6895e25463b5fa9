import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { type CommanderError } from 'commander';
import { describeScale } from './describe-scale.ts';
import { planScale, type ScalePlan } from './plan-scale.ts';
import { checkPrices, EXAMPLE_PRICES, readPrices } from './prices.ts';
import { type ScaleFlags, scaleProgram } from './read-flags.ts';
import { type ScaleLoad, USUAL_LOAD } from './scale-load.ts';

const read = readPrices(EXAMPLE_PRICES);
if (!read.ok) throw new Error(read.problem);
const { prices } = read;
const MILLION: ScaleLoad = { ...USUAL_LOAD, eventsPerSecond: 1_000_000, destinations: 100_000 };
const SMALL: ScaleLoad = { ...USUAL_LOAD, eventsPerSecond: 1, destinations: 1, eventBytes: 1, failingShare: 0 };
/** Everything that a load can have more of. */
const GROWING = [
  'eventsPerSecond',
  'eventBytes',
  'destinationsPerEvent',
  'retentionHours',
  'recordDays',
] as const satisfies readonly (keyof ScaleLoad)[];

suite('the scale of an installation', () => {
  test('has cells for a million events a second, and one for a thousand', () => {
    assert.equal(planScale(USUAL_LOAD, prices).cells.count, 1);
    const { cells, parts } = planScale(MILLION, prices);
    assert.ok(cells.count >= 20, 'a cell carries at most about 50,000 events a second');
    const nats = parts.find(({ part }) => part === 'nats');
    assert.equal(nats?.processes, cells.count * 3);
  });

  test('has installations only where one PostgreSQL cannot take the record, and fewer rows are the way out', () => {
    const { installations, parts } = planScale(MILLION, prices);
    assert.match(installations.decidedBy, /PostgreSQL/);
    assert.equal(parts.find(({ part }) => part === 'postgres')?.processes, installations.count);
    assert.ok(installations.count > 1);
    assert.equal(planScale({ ...MILLION, rowsKept: 0.01 }, prices).installations.count, 1);
  });

  test('never needs less where the load grows', () => {
    for (const key of GROWING) {
      let [cells, traffic, needed] = [0, 0, 0];
      for (const factor of [1, 1.5, 2, 5, 10, 33, 100, 1_000]) {
        const load = { ...USUAL_LOAD, destinations: 1, [key]: USUAL_LOAD[key] * factor };
        const plan = planScale(load, prices);
        const now = plan.ceilings.reduce((sum, each) => sum + each.needed, 0);
        assert.ok(plan.cells.count >= cells && now >= needed, `${key} times ${factor}`);
        assert.ok(plan.traffic.insideBytes + plan.traffic.outBytes >= traffic, `${key} times ${factor}`);
        [cells, traffic, needed] = [plan.cells.count, plan.traffic.insideBytes + plan.traffic.outBytes, now];
      }
    }
  });

  test('costs never less where one cell has more to do', () => {
    for (const key of [...GROWING, 'failingShare', 'destinations'] as const) {
      let total = 0;
      for (const factor of [1, 1.2, 2, 5, 10]) {
        const plan = planScale({ ...USUAL_LOAD, eventsPerSecond: 100, [key]: USUAL_LOAD[key] * factor }, prices);
        assert.equal(plan.cells.count, 1);
        assert.ok(plan.cost.total >= total, `${key} times ${factor}: ${plan.cost.total} after ${total}`);
        total = plan.cost.total;
      }
    }
  });

  test('costs less with larger batches, several events a POST, receivers without TLS and fewer rows', () => {
    const { total } = planScale(MILLION, prices).cost;
    const cheaper: Partial<ScaleLoad>[] = [
      { callsPerRequest: 100 },
      { eventsPerPost: 20 },
      { hasTls: false },
      { rowsKept: 0.01 },
    ];
    for (const change of cheaper)
      assert.ok(planScale({ ...MILLION, ...change }, prices).cost.total < total, JSON.stringify(change));
  });

  test('is a number everywhere, for the smallest and the largest of every flag', () => {
    const edges: Partial<ScaleLoad>[] = [
      {},
      { eventsPerSecond: 1e-6 },
      { eventsPerSecond: 1e9, eventBytes: 500_000, destinationsPerEvent: 50, retentionHours: 8_760 },
      { callsPerRequest: 2_500, eventsPerPost: 4_000 },
      { failingShare: 1, destinations: 1e7 },
      { rowsKept: 0, peakFactor: 100, answerMs: 5_000, replicas: 1, diskBytes: 1e9, coresPerMachine: 1 },
    ];
    for (const load of [SMALL, MILLION])
      for (const edge of edges) {
        const numbers = numbersIn(planScale({ ...load, ...edge }, prices));
        assert.ok(numbers.length > 50);
        assert.ok(
          numbers.every((value) => Number.isFinite(value) && value >= 0),
          JSON.stringify(edge),
        );
      }
  });

  test('names the component that decides about cells', () => {
    assert.match(planScale(MILLION, prices).cells.decidedBy, /the disks of NATS/);
    assert.match(planScale({ ...MILLION, retentionHours: 1 }, prices).cells.decidedBy, /a cell/);
    assert.match(
      planScale({ ...MILLION, retentionHours: 1, callsPerRequest: 1 }, prices).cells.decidedBy,
      /event streams/,
    );
  });

  test('has fewer cells with more servers in each, until the rate decides, and no disk above the largest', () => {
    const plans = [3, 6, 9].map((serversPerCell) => planScale({ ...MILLION, serversPerCell, rowsKept: 0.01 }, prices));
    const counts = plans.map(({ cells }) => cells.count);
    assert.deepEqual(counts, [45, 23, 20]);
    for (const { parts } of plans) {
      const nats = parts.find(({ part }) => part === 'nats');
      assert.ok((nats?.diskBytes ?? 0) <= MILLION.diskBytes * (nats?.processes ?? 0));
    }
  });

  test('says what is from an estimate, and which setting shrinks a record that fits on no disk', () => {
    const { warnings } = planScale(MILLION, prices);
    assert.ok(warnings.some((warning) => warning.includes('MILLRACE_RECORD_ROWS')));
    assert.ok(warnings.some((warning) => warning.includes('estimate')));
    assert.deepEqual(planScale(USUAL_LOAD, prices).warnings, []);
  });

  test('reads as a table, with the date of the prices and that they are an example', () => {
    const text = describeScale(MILLION, planScale(MILLION, prices), prices);
    assert.match(text, /^deliver +\d+ +\d+ +\d+ +\d+ GB +–$/m);
    assert.match(text, /^Cells, .*: \d+ \(by /m);
    assert.match(text, /^Settings: .*MILLRACE_OUTCOME_STREAMS=\d+.*MILLRACE_PROCESSES=\d+/m);
    assert.match(text, new RegExp(`Prices of ${prices.asOf}\\. An example list, not an offer`));
    assert.doesNotMatch(text, /NaN|undefined|Infinity/);
  });
});

suite('the flags of npm run scale', () => {
  test('are those of the documents', async () => {
    const asked = '--events 1000000 --bytes 700 --batch 20 --destinations 100000 --failing 0.02 --retention 72h --json';
    const { load, isJson } = await flagsOf(asked);
    assert.deepEqual(load, MILLION);
    assert.equal(isJson, true);
  });

  test('print one line of JSON, or a table', () => {
    const asked = '--events 1000000 --bytes 700 --batch 20 --destinations 100000 --failing 0.02 --retention 72h';
    const main = join(import.meta.dirname, 'main.ts');
    const print = (...flags: string[]) =>
      execFileSync(process.execPath, [main, ...asked.split(' '), ...flags], { encoding: 'utf8' });
    const { load, plan } = JSON.parse(print('--json')) as { load: ScaleLoad; plan: ScalePlan };
    assert.deepEqual(load, MILLION);
    assert.deepEqual(plan, JSON.parse(JSON.stringify(planScale(MILLION, prices))));
    assert.equal(print(), `${describeScale(MILLION, planScale(MILLION, prices), prices)}\n`);
  });

  test('take shares as percent, and times with their unit', async () => {
    const { load } = await flagsOf('--failing 2% --retention 3d --record 36h --rows 0');
    assert.deepEqual([load.failingShare, load.retentionHours, load.recordDays, load.rowsKept], [0.02, 72, 1.5, 0]);
  });

  test('are refused with advice where they are unknown or make no sense', async () => {
    const wrong: [string, RegExp][] = [
      ['--event 5', /unknown option '--event'[^]*Did you mean --events\?[^]*--help/],
      ['--events 0', /a number above 0/],
      ['--events many', /a number above 0/],
      ['--events 1e999', /a number above 0/],
      ['--batch 0.5', /from 1 on/],
      ['--batch 2501', /The server takes 2500 at most/],
      ['--per-post 101', /The server takes 100 at most/],
      ['--failing 2', /from 0 to 1, such as 0.02, or 2%/],
      ['--failing -0.1', /from 0 to 1/],
      ['--retention 72', /with its unit, such as 72h/],
      ['--retention 0h', /with its unit/],
      ['1000', /too many arguments/],
    ];
    for (const [text, message] of wrong) await assert.rejects(said(text), message, text);
  });
});

suite('a list of prices', () => {
  test('has a date, says that it is an example, and can be replaced by a file', () => {
    assert.match(prices.asOf, /^\d{4}-\d\d-\d\d$/);
    assert.match(prices.about, /^An example list, not an offer/);
    const dir = mkdtempSync(join(tmpdir(), 'millrace-prices-'));
    try {
      const file = join(dir, 'ours.json');
      writeFileSync(file, JSON.stringify({ ...prices, diskGbMonth: 0, about: 'Ours.' }));
      const ours = readPrices(file);
      assert.ok(ours.ok);
      assert.equal(planScale(MILLION, ours.prices).cost.disks, 0);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('is refused with everything that is wrong with it', () => {
    const { coreHour: _, ...rest } = prices;
    const checked = checkPrices({ ...rest, zoneGb: -1, tips: 5 });
    assert.ok(!checked.ok);
    assert.match(checked.problem, /coreHour must be .*zoneGb must be .*tips is no price/);
    assert.equal(readPrices('/nowhere/prices.json').ok, false);
  });
});

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(numbersIn);
}

async function flagsOf(text: string): Promise<ScaleFlags> {
  const given: ScaleFlags[] = [];
  const program = scaleProgram((flags) => void given.push(flags));
  await program.parseAsync(text.split(' '), { from: 'user' });
  const [flags] = given;
  assert.ok(flags);
  return flags;
}

/** Rejects with the words that the terminal would show. */
async function said(text: string): Promise<void> {
  let words = '';
  const program = scaleProgram(() => undefined)
    .exitOverride()
    .configureOutput({ writeErr: (part) => void (words += part) });
  await program.parseAsync(text.split(' '), { from: 'user' }).catch((error: CommanderError) => {
    throw new Error(`${error.message}\n${words}`);
  });
}

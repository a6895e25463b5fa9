import { loadavg } from 'node:os';
import { useAllCores } from '../pin.ts';
import type { BenchOptions, Verdict } from '../run.ts';
import { convoy } from './convoy.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { breaches, type Outage } from './journal.ts';
import { millrace } from './millrace.ts';
import { outpost } from './outpost.ts';
import { batches, burst, type Found, isolation, outage, type Run, type Size, steady } from './scenarios.ts';
import { svix } from './svix.ts';
import type { System } from './system.ts';

type Result = {
  system: string;
  slots: number | undefined;
  round: number;
  scenarios: Record<string, Found>;
  outage?: Outage;
};

/** All systems with a setting for it run with the same numbers: the isolation of a system depends on it most of all. */
const [SLOTS, MORE_SLOTS] = [100, 1_000];
const FULL: Size = {
  burst: 10_000,
  rate: 100,
  rateMs: 30_000,
  isolationMs: 40_000,
  patienceMs: 60_000,
  settleMs: 12_000,
};
const QUICK: Size = { burst: 1_000, rate: 50, rateMs: 4_000, isolationMs: 6_000, patienceMs: 20_000, settleMs: 2_000 };
const ROUNDS = 2;

/**
 * Millrace beside systems that do a similar job, one after the other, each with its engines on this machine. A peer whose program no variable
 * names is reported as not run. The verdict is about Millrace alone: nothing missing, and the promises of an outage.
 */
export async function benchPeers({ isQuick }: BenchOptions): Promise<Verdict> {
  useAllCores();
  const size = isQuick ? QUICK : FULL;
  const systems = systemsToRun();
  const able = systems.filter(({ missing }) => missing === undefined);
  for (const system of systems) introduce(system);
  await using exchange = await openExchange();
  const results: Result[] = [];
  for (let round = 1; round <= (isQuick ? 1 : ROUNDS); round += 1)
    // The machine changes over an hour: the second round runs in the other order.
    for (const system of round % 2 === 1 ? able : able.toReversed())
      results.push(await measure(system, exchange, size, round));
  const ours = results.filter(({ system }) => system === 'Millrace');
  const broken = ours.flatMap(brokenBy);
  const notRun = systems
    .filter(({ missing }) => missing !== undefined)
    .map(({ name, missing }) => `${name}: name its program in ${missing}`);
  return {
    isGood: ours.length > 0 && broken.length === 0,
    figures: { bench: 'peers', size, results, notRun: [...new Set(notRun)], broken, load: loadavg()[0] },
  };
}

export function systemsToRun(): System[] {
  return [
    ...[millrace, outpost, convoy].map((open) => open(SLOTS)),
    svix(),
    ...[millrace, outpost, convoy].map((open) => open(MORE_SLOTS)),
  ];
}

function introduce({ name, slots, missing, about }: System): void {
  const text = missing === undefined ? about().join('; ') : `not run: name its program in ${missing}`;
  console.error(`${name}, ${slots === undefined ? 'its own number of slots' : `${slots} slots`}: ${text}`);
}

/** With more slots only isolation runs: nothing else fills them. */
async function measure(system: System, exchange: Exchange, size: Size, round: number): Promise<Result> {
  await using running = await system.open(exchange.urlOf);
  const run: Run = { system: running, exchange, size, name: `${system.name}${system.slots ?? ''}-${round}` };
  const result: Result = { system: system.name, slots: system.slots, round, scenarios: {} };
  const note = async (name: string, scenario: (run: Run) => Promise<Found>) => {
    result.scenarios[name] = await scenario(run);
    console.error(`${run.name} ${name}: ${JSON.stringify(result.scenarios[name])}`);
  };
  await burst({ ...run, size: { ...size, burst: size.burst / 5, settleMs: 1_000 }, name: `${run.name}-warm` });
  if (system.slots !== MORE_SLOTS) {
    await note('burst', burst);
    if (running.endpoints[0]?.batch !== undefined) await note('batches', batches);
    await note('steady', steady);
  }
  await note('isolation', isolation);
  if (system.slots === MORE_SLOTS) return result;
  result.outage = await outage(run);
  const broken = breaches(result.outage).join(', ') || 'no promise broken';
  console.error(`${run.name} outage: ${JSON.stringify(result.outage)}: ${broken}`);
  return result;
}

function brokenBy({ scenarios, outage: found, round }: Result): string[] {
  const missing = Object.entries(scenarios)
    .filter(([, { missing: count, accepted }]) => count > 0 || accepted === 0)
    .map(([name, { missing: count }]) => `round ${round}, ${name}: ${count} missing`);
  return [
    ...missing,
    ...(found === undefined ? [] : breaches(found)).map((words) => `round ${round}, outage: ${words}`),
  ];
}

import { loadavg } from 'node:os';
import { ROOT_DIR } from '@millrace/engines';
import { useAllCores } from '../pin.ts';
import { type Receivers, startReceivers } from '../replay/start-receivers.ts';
import type { BenchOptions, Verdict } from '../run.ts';
import { median, round } from '../spread.ts';
import { openSmall, openTwin, PARTS, type Small } from './installation.ts';
import { type Killed, killInBurst } from './kill-in-burst.ts';
import { type Costs, type Loaded, measureBurst, measureIdle, measureLoad, type Memory, warmUp } from './measure.ts';

type Size = { rounds: number; seconds: number; warmUp: number; burst: number; kills: number };
type Contender = {
  name: string;
  open(receivers: Receivers): Promise<Small>;
  idle: Costs[];
  loads: Loaded[];
  memory: Memory[];
  /** The twin promises nothing about kills. */
  killed?(): Promise<Killed>;
  kills: Killed[];
};

const FULL: Size = { rounds: 5, seconds: 10, warmUp: 2_000, burst: 10_000, kills: 3 };
const QUICK: Size = { rounds: 2, seconds: 5, warmUp: 500, burst: 10_000, kills: 0 };
const PER_SECOND = 100;
const GOALS = { msAnEvent: 1.5, idleMsASecond: 10, residentMb: 250 };

/**
 * A small installation: all roles in one process, one NATS server, one PostgreSQL. CPU of an event at 100 single calls a second and of an
 * idle second, memory after a burst, the time to the receiver, and the deliveries that a kill in a burst repeats. A bare twin, which does the
 * same I/O and nothing else, takes turns with it, and with `--before` another checkout does too.
 */
export async function benchSmall({ isQuick, before }: BenchOptions): Promise<Verdict> {
  useAllCores();
  const size = isQuick ? QUICK : FULL;
  const now = contenderOf('now', ROOT_DIR);
  const twin: Contender = { name: 'twin', open: openTwin, idle: [], loads: [], memory: [], kills: [] };
  const contenders = [now, twin, ...(before === undefined ? [] : [contenderOf('before', before)])];
  await measureAll(contenders, size);
  for (let round = 0; round < size.kills; round += 1) for (const each of contenders) await killOnce(each);
  const figures = Object.fromEntries(contenders.map((each) => [each.name, figuresOf(each)]));
  const { msAnEvent, idleMsASecond, residentMb } = figuresOf(now);
  const isGood =
    msAnEvent.all <= GOALS.msAnEvent && idleMsASecond.all <= GOALS.idleMsASecond && residentMb <= GOALS.residentMb;
  return { isGood, figures: { bench: 'small', ...figures, goals: GOALS, load: loadavg()[0] } };
}

function contenderOf(name: string, checkout: string): Contender {
  const open = (receivers: Receivers) => openSmall(checkout, receivers);
  return { name, open, idle: [], loads: [], memory: [], killed: () => killInBurst(checkout), kills: [] };
}

async function killOnce({ name, killed, kills }: Contender): Promise<void> {
  if (killed === undefined) return;
  kills.push(await killed());
  console.error(`${name} killed ${JSON.stringify(kills.at(-1))}`);
}

async function measureAll(contenders: readonly Contender[], size: Size): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const receivers = opened.use(await startReceivers());
  const running: { contender: Contender; small: Small }[] = [];
  for (const contender of contenders) running.push({ contender, small: opened.use(await contender.open(receivers)) });
  for (const { small } of running) await warmUp(small, receivers, size.warmUp);
  for (let nth = 0; nth < size.rounds; nth += 1) {
    for (const { contender, small } of running) await measureRound(contender, small, { receivers, size });
    // PostgreSQL tidies up once a minute, and so do others: not always in the turn of the same one.
    running.push(...running.splice(0, 1));
  }
  for (const { contender, small } of running) {
    contender.memory.push(await measureBurst(small, receivers, size.burst));
    console.error(`${contender.name} after a burst ${JSON.stringify(contender.memory.at(-1))}`);
  }
}

type Round = { receivers: Receivers; size: Size };

async function measureRound({ name, idle, loads }: Contender, small: Small, { receivers, size }: Round): Promise<void> {
  idle.push(await measureIdle(small, size.seconds));
  loads.push(await measureLoad(small, receivers, { seconds: size.seconds, perSecond: PER_SECOND }));
  console.error(`${name} idle ${JSON.stringify(idle.at(-1))}`);
  console.error(`${name} load ${JSON.stringify(loads.at(-1))}`);
}

function figuresOf({ idle, loads, memory, kills }: Contender) {
  const middle = (values: number[]) => round(median(values));
  return {
    msAnEvent: medianCosts(loads.map(({ msAnEvent }) => msAnEvent)),
    idleMsASecond: medianCosts(idle),
    residentMb: middle(memory.map(({ residentMb }) => residentMb)),
    natsMb: middle(memory.map(({ natsMb }) => natsMb)),
    p50Ms: middle(loads.map(({ p50Ms }) => p50Ms)),
    p99Ms: middle(loads.map(({ p99Ms }) => p99Ms)),
    kills,
  };
}

function medianCosts(costs: readonly Costs[]): Costs {
  const middle = (of: keyof Costs) => round(median(costs.map((each) => each[of])));
  const parts = Object.fromEntries(PARTS.map((part) => [part, middle(part)])) as Record<(typeof PARTS)[number], number>;
  return { ...parts, all: middle('all') };
}

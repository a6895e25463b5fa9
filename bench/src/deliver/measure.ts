import { setTimeout as sleep } from 'node:timers/promises';
import { cpuUs } from '../cpu-us.ts';
import type { Contender, Launched, Traffic } from './contenders.ts';
import { EVENTS_PER_REQUEST } from './scene.ts';
import type { Receiver } from './start-receiver.ts';

export type Plan = {
  traffic: Traffic;
  launches: number;
  slices: number;
  seconds: number;
  deliveriesPerSecond: number;
  warmUpDeliveries: number;
};

/** CPU a delivery, in microseconds: of the contender itself and of its NATS server. */
export type Cost = { us: number; natsUs: number };
/** The cost of each contender in one and the same stretch of time. */
export type Slice = Record<string, Cost>;

type Running = { name: string; launched: Launched };

const PATIENCE_MS = 30_000;

/** More than this, and the machine is not fit to measure on. */
const MAX_VOID_LAUNCHES = 2;

/** Runs the contenders side by side, each doing the same number of deliveries at the same pace. */
export async function measure(contenders: Contender[], plan: Plan, receiver: Receiver): Promise<Slice[]> {
  const slices: Slice[] = [];
  let voids = 0;
  for (let launch = 0; launch < plan.launches + voids; launch += 1) {
    // The contender that starts first is a little worse off, so they take turns.
    const turn = launch % contenders.length;
    const inTurn = [...contenders.slice(turn), ...contenders.slice(0, turn)];
    try {
      slices.push(...(await measureLaunch(inTurn, plan, receiver)));
    } catch (error) {
      if (!(error instanceof Void) || voids === MAX_VOID_LAUNCHES) throw error;
      console.log(error.message);
      voids += 1;
    }
  }
  return slices;
}

/** The contenders did other work than the bench is to measure: the figures are void. */
class Void extends Error {
  override readonly name = 'Void';
}

async function measureLaunch(contenders: Contender[], plan: Plan, receiver: Receiver): Promise<Slice[]> {
  await using opened = new AsyncDisposableStack();
  const running: Running[] = [];
  for (const { name, launch } of contenders) running.push({ name, launched: opened.use(await launch()) });
  await warmUp(running, plan, receiver);
  const slices: Slice[] = [];
  for (let slice = 0; slice < plan.slices; slice += 1) slices.push(await measureSlice(running, plan, receiver));
  return slices;
}

/** Cold code costs two to three times as much, so it is warmed by count, not by time; first gently, until all are there. */
async function warmUp(running: Running[], plan: Plan, receiver: Receiver): Promise<void> {
  await measureSlice(running, { ...plan, seconds: 1, deliveriesPerSecond: 100 }, receiver);
  await measureSlice(running, { ...plan, seconds: plan.warmUpDeliveries / plan.deliveriesPerSecond }, receiver);
}

async function measureSlice(running: Running[], plan: Plan, receiver: Receiver): Promise<Slice> {
  const { traffic, deliveriesPerSecond, seconds } = plan;
  const perSecond = deliveriesPerSecond / EVENTS_PER_REQUEST[traffic.shape];
  const flow = { units: Math.round(perSecond * seconds), perSecond };
  const deliveries = flow.units * EVENTS_PER_REQUEST[traffic.shape];
  await receiver.counts({ forget: true });
  const before = running.map(({ launched }) => spent(launched));
  await Promise.all(running.map(({ launched }) => launched.send(flow)));
  await allArrived(running, deliveries, receiver);
  const costs = running.map(({ name, launched }, i) => {
    const now = spent(launched);
    const cost = {
      us: (now.us - (before[i]?.us ?? 0)) / deliveries,
      natsUs: (now.natsUs - (before[i]?.natsUs ?? 0)) / deliveries,
    };
    return [name, cost] as const;
  });
  return Object.fromEntries(costs);
}

function spent({ pid, natsPid }: Launched): Cost {
  return { us: cpuUs(pid), natsUs: natsPid === undefined ? 0 : cpuUs(natsPid) };
}

/** The run is void unless each contender brought every delivery once, with the right signatures. */
async function allArrived(running: Running[], deliveries: number, receiver: Receiver): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const counts = await receiver.counts({ forget: false });
    const mine = running.map(({ name }) => counts[name] ?? { posts: 0, distinct: 0, wrong: 0 });
    const isVoid = mine.some(({ posts, distinct, wrong }) => posts !== distinct || wrong > 0 || posts > deliveries);
    if (!isVoid && mine.every(({ posts }) => posts === deliveries)) return;
    if (isVoid || performance.now() > giveUpAt) {
      throw new Void(`void: ${deliveries} deliveries each were due, but there came ${JSON.stringify(counts)}`);
    }
    await sleep(20);
  }
}

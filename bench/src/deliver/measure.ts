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

/** CPU a delivery, in microseconds: of the contender itself and of its NATS server; and the deliveries in one POST. */
export type Cost = { us: number; natsUs: number; perPost: number };
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
  const perRequest = EVENTS_PER_REQUEST[traffic.shape] * (traffic.perSource ?? 1);
  const perSecond = deliveriesPerSecond / perRequest;
  const flow = { units: Math.round(perSecond * seconds), perSecond };
  const deliveries = flow.units * perRequest;
  await receiver.counts({ forget: true });
  const before = running.map(({ launched }) => spent(launched));
  await Promise.all(running.map(({ launched }) => launched.send(flow)));
  const posts = await allArrived(running, deliveries, receiver);
  const costs = running.map(({ name, launched }, i) => {
    const now = spent(launched);
    const cost = {
      us: (now.us - (before[i]?.us ?? 0)) / deliveries,
      natsUs: (now.natsUs - (before[i]?.natsUs ?? 0)) / deliveries,
      perPost: deliveries / (posts[i] ?? NaN),
    };
    return [name, cost] as const;
  });
  return Object.fromEntries(costs);
}

function spent({ pid, natsPid }: Launched): Omit<Cost, 'perPost'> {
  return { us: cpuUs(pid), natsUs: natsPid === undefined ? 0 : cpuUs(natsPid) };
}

/** The POSTs of each contender. The run is void unless each brought every delivery once, with the right signatures. */
async function allArrived(running: Running[], deliveries: number, receiver: Receiver): Promise<number[]> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const counts = await receiver.counts({ forget: false });
    const mine = running.map(({ name }) => counts[name] ?? { deliveries: 0, distinct: 0, wrong: 0, posts: 0 });
    const isVoid = mine.some((one) => one.deliveries !== one.distinct || one.wrong > 0 || one.deliveries > deliveries);
    if (!isVoid && mine.every((one) => one.deliveries === deliveries)) return mine.map(({ posts }) => posts);
    if (isVoid || performance.now() > giveUpAt) {
      throw new Void(`void: ${deliveries} deliveries each were due, but there came ${JSON.stringify(counts)}`);
    }
    await sleep(20);
  }
}

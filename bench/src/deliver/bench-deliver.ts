import { checkOutVersion } from '@millrace/engines';
import type { BenchOptions, Verdict } from '../run.ts';
import type { Spread } from '../spread.ts';
import { costs, ratio } from './compare-slices.ts';
import { deliver, type Traffic, twin } from './contenders.ts';
import { measure, type Plan } from './measure.ts';
import type { Shape } from './scene.ts';
import { type Receiver, startReceiver } from './start-receiver.ts';

const GOALS = { ratio: 1.5, flatWithin: 1.2 };
/** How much dearer than another version of itself it may be. */
const GOAL_BESIDE = 1.03;

type Scenario = {
  name: string;
  shape: Shape;
  destinations: number;
  perSource?: number;
  warmUpDeliveries: number;
  isGoal: boolean;
};

const ONE = {
  name: 'one destination',
  shape: 'batch',
  destinations: 1,
  warmUpDeliveries: 12_000,
  isGoal: true,
} satisfies Scenario;
const SCENARIOS: Scenario[] = [
  ONE,
  // A batch for every destination.
  { name: '1,000 destinations', shape: 'batch', destinations: 1_000, warmUpDeliveries: 20_000, isGoal: true },
  { name: 'one destination, single events', shape: 'single', destinations: 1, warmUpDeliveries: 12_000, isGoal: false },
];
/** A twin has one destination, so this one is only compared with another version. */
const FIVE: Scenario = { ...ONE, name: 'five destinations of one source', perSource: 5 };
const CONFIGURED = [100, 10_000, 100_000];
const ACTIVE = 100;

/**
 * CPU of deliver for one delivery, from the stream to the receiver's 200, against bare twins that post the same bodies
 * beside it at the same time on the same core; generator, receiver and NATS have the other one.
 */
export async function benchDeliver({ isQuick, beside }: BenchOptions): Promise<Verdict> {
  const figures: Record<string, unknown> = { bench: 'deliver', goals: GOALS };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await using receiver = await startReceiver();
  if (beside !== undefined) return await benchBeside(beside, receiver, isQuick);
  let isGood = true;
  /** A measurement that failed is reported as such and counts as not reached. */
  const tell = async <T>(name: string, measured: Promise<T>, isReached: (value: T) => boolean) => {
    const value = await measured.catch((error: unknown) => String(error));
    console.log(`${name}: ${JSON.stringify(value)}`);
    figures[name] = value;
    if (typeof value === 'string' || !isReached(value)) isGood = false;
  };
  await tell('twin against itself', twinAgainstItself(receiver, isQuick), () => true);
  for (const scenario of SCENARIOS) {
    const isReached = ({ ratio }: { ratio: Spread }) => !scenario.isGoal || ratio.median <= GOALS.ratio;
    await tell(scenario.name, againstTwins(scenario, receiver, isQuick), isReached);
  }
  await tell('destinations configured', flatness(receiver, isQuick), ({ ratios }) =>
    Object.values(ratios).every(({ median }) => median <= GOALS.flatWithin),
  );
  return { isGood, figures };
}

async function againstTwins(scenario: Scenario, receiver: Receiver, isQuick: boolean) {
  const { destinations: count, warmUpDeliveries } = scenario;
  const traffic = trafficOf(scenario, receiver);
  const contenders = [
    deliver({ name: 'deliver', configured: count }, traffic),
    twin('twin', 'both', traffic),
    twin('one-signature', 'one', traffic),
  ];
  const slices = await measure(contenders, planOf(traffic, warmUpDeliveries, isQuick), receiver);
  return {
    ratio: ratio(slices, 'deliver', 'twin'),
    'ratio to the twin with one signature': ratio(slices, 'deliver', 'one-signature'),
    us: costs(slices, 'us'),
    natsUs: costs(slices, 'natsUs')['deliver'],
  };
}

/** This version against another one, which runs beside it in the same way. */
async function benchBeside(revision: string, receiver: Receiver, isQuick: boolean): Promise<Verdict> {
  using other = await checkOutVersion(revision);
  const figures: Record<string, unknown> = { bench: 'deliver', beside: revision, goal: GOAL_BESIDE };
  let isGood = true;
  for (const scenario of [...SCENARIOS, FIVE]) {
    const traffic = trafficOf(scenario, receiver);
    const configured = scenario.destinations * (scenario.perSource ?? 1);
    const contenders = [
      deliver({ name: 'now', configured }, traffic),
      deliver({ name: 'before', configured, main: other.serverMain }, traffic),
    ];
    const slices = await measure(contenders, planOf(traffic, scenario.warmUpDeliveries, isQuick), receiver);
    const found = { ratio: ratio(slices, 'now', 'before'), us: costs(slices, 'us'), natsUs: costs(slices, 'natsUs') };
    console.log(`${scenario.name}: ${JSON.stringify(found)}`);
    figures[scenario.name] = found;
    if (found.ratio.median > GOAL_BESIDE) isGood = false;
  }
  return { isGood, figures };
}

function trafficOf({ shape, destinations, perSource }: Scenario, { port }: Receiver): Traffic {
  return { shape, destinations: Array.from({ length: destinations }, (_, i) => i), port, perSource };
}

/** The noise floor: the twin measured beside itself. */
async function twinAgainstItself(receiver: Receiver, isQuick: boolean): Promise<Spread> {
  const traffic: Traffic = { shape: 'batch', destinations: [0], port: receiver.port };
  const contenders = [twin('twin', 'both', traffic), twin('again', 'both', traffic)];
  return ratio(await measure(contenders, planOf(traffic, 12_000, isQuick), receiver), 'again', 'twin');
}

/** The same traffic to a hundred destinations, with more and more quiet ones configured around them. */
async function flatness(receiver: Receiver, isQuick: boolean) {
  const base: Traffic = { shape: 'batch', destinations: [], port: receiver.port };
  const contenders = CONFIGURED.map((configured) => {
    const destinations = Array.from({ length: ACTIVE }, (_, i) => (i * configured) / ACTIVE);
    return deliver({ name: String(configured), configured }, { ...base, destinations });
  });
  const slices = await measure(contenders, planOf(base, 12_000, isQuick), receiver);
  const [fewest = '', ...more] = CONFIGURED.map(String);
  const ratios = more.map((name) => [`${name} to ${fewest}`, ratio(slices, name, fewest)] as const);
  return { ratios: Object.fromEntries(ratios), us: costs(slices, 'us') };
}

function planOf(traffic: Traffic, warmUpDeliveries: number, isQuick: boolean): Plan {
  const size = isQuick ? { launches: 1, slices: 3, seconds: 2 } : { launches: 3, slices: 3, seconds: 3 };
  return { traffic, ...size, deliveriesPerSecond: 1_000, warmUpDeliveries };
}

import type { BenchOptions, Verdict } from '../run.ts';
import { costs, ratio } from './compare-slices.ts';
import { deliver, type Traffic } from './contenders.ts';
import { measure } from './measure.ts';
import type { Shape } from './scene.ts';
import { startReceiver } from './start-receiver.ts';

/** A delivery in a batch may cost this part of one that goes alone. */
const GOALS: Readonly<Record<Batches, number>> = { batch: 0.6, hundred: 0.5 };
type Batches = Exclude<Shape, 'single'>;
const SCENARIOS: Readonly<Record<string, Batches>> = { 'requests of 20': 'batch', 'requests of 100': 'hundred' };

/**
 * CPU of deliver for one event to a destination that gets batches, against one that gets each event alone: two processes side by side, with
 * the same requests. It includes routing, the record and the acknowledgement, which are by event either way.
 */
export async function benchBatch({ isQuick }: BenchOptions): Promise<Verdict> {
  const figures: Record<string, unknown> = { bench: 'batch', goals: GOALS };
  let isGood = true;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await using receiver = await startReceiver();
  for (const [name, shape] of Object.entries(SCENARIOS)) {
    const traffic: Traffic = { shape, destinations: [0], port: receiver.port };
    const contenders = [
      deliver({ name: 'single', configured: 1 }, traffic),
      deliver({ name: 'batch', configured: 1, bodyFormat: 'batch' }, traffic),
    ];
    const size = isQuick ? { launches: 1, slices: 3, seconds: 2 } : { launches: 3, slices: 3, seconds: 3 };
    const plan = { traffic, ...size, deliveriesPerSecond: 1_000, warmUpDeliveries: 12_000 };
    const slices = await measure(contenders, plan, receiver);
    const found = {
      ratio: ratio(slices, 'batch', 'single'),
      us: costs(slices, 'us'),
      natsUs: costs(slices, 'natsUs'),
      eventsPerRequest: costs(slices, 'perPost'),
    };
    console.log(`${name}: ${JSON.stringify(found)}`);
    figures[name] = found;
    if (found.ratio.median > GOALS[shape]) isGood = false;
  }
  return { isGood, figures };
}

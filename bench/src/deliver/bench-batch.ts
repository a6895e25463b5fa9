import type { BenchOptions, Verdict } from '../run.ts';
import { costs, ratio } from './compare-slices.ts';
import { deliver, type Traffic } from './contenders.ts';
import { measure } from './measure.ts';
import type { Shape } from './scene.ts';
import { startReceiver } from './start-receiver.ts';

/** A delivery in a batch may cost this part of one that goes alone. */
const GOALS: Readonly<Record<Batches, number>> = { batch: 0.6, hundred: 0.5 };
type Batches = Exclude<Shape, 'single'>;
/** With four destinations the requests of each come more than 20 ms apart, so a batch has the events of one request. */
const DESTINATIONS = [0, 1, 2, 3];
const SCENARIOS: Readonly<Record<string, Batches>> = { 'requests of 20': 'batch', 'requests of 100': 'hundred' };

/**
 * CPU of deliver for one event to destinations that get batches, against those that get each event alone: two processes side by side, with
 * the same requests. It includes routing, the record and the acknowledgement, which are by event either way.
 */
export async function benchBatch({ isQuick }: BenchOptions): Promise<Verdict> {
  const figures: Record<string, unknown> = { bench: 'batch', goals: GOALS };
  let isGood = true;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  await using receiver = await startReceiver();
  for (const [name, shape] of Object.entries(SCENARIOS)) {
    const traffic: Traffic = { shape, destinations: DESTINATIONS, port: receiver.port };
    const configured = DESTINATIONS.length;
    const contenders = [
      deliver({ name: 'single', configured }, traffic),
      deliver({ name: 'batch', configured, bodyFormat: 'batch' }, traffic),
    ];
    const size = isQuick ? { launches: 1, slices: 3, seconds: 2 } : { launches: 3, slices: 3, seconds: 3 };
    const plan = { traffic, ...size, deliveriesPerSecond: 2_000, warmUpDeliveries: 20_000 };
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

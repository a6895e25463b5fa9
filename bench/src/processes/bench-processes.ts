import { availableParallelism } from 'node:os';
import { addScene } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { orderCall } from '../order-call.ts';
import { useAllCores } from '../replay/installation.ts';
import { type Receivers, startReceivers } from '../replay/start-receivers.ts';
import type { BenchOptions, Verdict } from '../run.ts';
import { median, round } from '../spread.ts';
import { type Installation, openInstallation } from './installation.ts';

const COUNTS = [1, 2];
/** Each with a destination of its own: a destination has at most 128 attempts under way. */
const SOURCES = 8;
const CALLS_A_REQUEST = 20;
const SENDERS = 32;
const PATIENCE_MS = 600_000;

type Measured = {
  eventsPerSecond: number;
  /** CPU for an event, in microseconds. */
  cpuUs: Record<string, number>;
  isExact: boolean;
};
type Bench = { stack: Installation; receivers: Receivers; keys: readonly string[] };

/**
 * Events a second from the first call over HTTP to the last delivery, by one process and by two, with the CPU of each part. Two processes gain
 * only where a core is free: NATS, PostgreSQL, the senders and the receivers run here too.
 */
export async function benchProcesses({ isQuick }: BenchOptions): Promise<Verdict> {
  useAllCores();
  const figures: Record<string, unknown> = { bench: 'processes', cores: availableParallelism() };
  const rates: number[] = [];
  let isGood = true;
  for (const count of COUNTS) {
    const rounds = await measureCount(count, isQuick ? { rounds: 1, events: 2_000 } : { rounds: 5, events: 40_000 });
    const eventsPerSecond = median(rounds.map((each) => each.eventsPerSecond));
    figures[`${count} processes`] = { eventsPerSecond: Math.round(eventsPerSecond), cpuUs: rounds.at(-1)?.cpuUs };
    rates.push(eventsPerSecond);
    isGood &&= rounds.every(({ isExact }) => isExact);
  }
  figures['ratio'] = round((rates[1] ?? 0) / (rates[0] ?? 1));
  return { isGood, figures };
}

type Plan = { rounds: number; events: number };

async function measureCount(count: number, { rounds, events }: Plan): Promise<Measured[]> {
  await using opened = new AsyncDisposableStack();
  const receivers = opened.use(await startReceivers());
  const stack = opened.use(await openInstallation(count));
  const scenes = await Promise.all(Array.from({ length: SOURCES }, () => addScene(stack, receivers.hookUrl)));
  const bench = { stack, receivers, keys: scenes.map(({ writeKey }) => writeKey) };
  await warmUp(bench, count, events);
  const measured: Measured[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    measured.push(await measure(bench, `${count}-${round}`, events));
    console.log(`${count} processes: ${JSON.stringify(measured.at(-1))}`);
  }
  return measured;
}

/** Until every process knows every key and destination, and has compiled its code. */
async function warmUp(bench: Bench, count: number, events: number): Promise<void> {
  let nth = 0;
  await until(async () => {
    nth += 1;
    return (await measure(bench, `${count}-warm-${nth}`, events / 2, 5_000).catch(() => undefined))?.isExact === true;
  }, PATIENCE_MS);
}

async function measure(bench: Bench, name: string, events: number, patienceMs = PATIENCE_MS): Promise<Measured> {
  const { stack, receivers } = bench;
  await receivers.reset();
  const before = stack.cpuUs();
  const startedAt = Number(process.hrtime.bigint() / 1_000n) / 1_000;
  await sendAll(bench, name, events);
  await until(async () => (await receivers.look()).count >= events, patienceMs);
  const { count, distinct, lastAt } = await receivers.look();
  const after = stack.cpuUs();
  return {
    eventsPerSecond: Math.round((events * 1_000) / (lastAt - startedAt)),
    cpuUs: Object.fromEntries(
      Object.entries(after).map(([part, us]) => [part, round((us - (before[part] ?? 0)) / events)]),
    ),
    isExact: count === events && distinct === events,
  };
}

async function sendAll({ stack, keys }: Bench, name: string, events: number): Promise<void> {
  let sent = 0;
  const send = async () => {
    while (sent < events) {
      const first = sent;
      sent += CALLS_A_REQUEST;
      const batch = Array.from({ length: Math.min(CALLS_A_REQUEST, events - first) }, (_, index) => ({
        type: 'track',
        messageId: `${name}-${first + index}`,
        ...orderCall(first + index),
      }));
      const status = await stack.send(keys[(first / CALLS_A_REQUEST) % keys.length] ?? '', batch);
      if (status !== 200) throw new Error(`a request was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

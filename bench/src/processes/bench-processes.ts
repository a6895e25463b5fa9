import { availableParallelism, loadavg } from 'node:os';
import { addScene } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { orderCall } from '../order-call.ts';
import { useAllCores } from '../replay/installation.ts';
import { type Receivers, startReceivers } from '../replay/start-receivers.ts';
import type { BenchOptions, Verdict } from '../run.ts';
import { median, round, spreadOf } from '../spread.ts';
import { type Installation, openInstallation } from './installation.ts';

const COUNTS = [1, 2];
/** Each with a destination of its own: a destination has at most 128 attempts under way. */
const SOURCES = 8;
const CALLS_A_REQUEST = 20;
const SENDERS = 32;
const PATIENCE_MS = 600_000;
/** PostgreSQL has nothing to record when it uses less than this part of a core for this long. */
const QUIET_MS = 500;
const QUIET_US_A_MS = 30;

type Measured = {
  eventsPerSecond: number;
  /** CPU for an event, in microseconds. */
  cpuUs: Record<string, number>;
  isExact: boolean;
};
type Bench = { count: number; stack: Installation; receivers: Receivers; keys: readonly string[] };

/**
 * Events a second from the first call over HTTP to the last delivery, by one process and by two in turn, with the CPU of each part. Two processes
 * gain only where a core is free: three NATS servers, PostgreSQL, the senders and the receivers run here too.
 */
export async function benchProcesses({ isQuick }: BenchOptions): Promise<Verdict> {
  useAllCores();
  const plan = isQuick ? { rounds: 1, events: 2_000 } : { rounds: 5, events: 20_000 };
  await using opened = new AsyncDisposableStack();
  const benches: Bench[] = [];
  for (const count of COUNTS) benches.push(await openBench(count, opened));
  for (const bench of benches) await warmUp(bench, plan.events);
  const measured = benches.map((): Measured[] => []);
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const [nth, bench] of benches.entries()) {
      const one = await measure(bench, String(round), plan.events);
      measured[nth]?.push(one);
      console.log(`${bench.count} processes: ${JSON.stringify(one)}`);
    }
  }
  const [alone = [], two = []] = measured;
  const ratio = spreadOf(two.map(({ eventsPerSecond }, nth) => eventsPerSecond / (alone[nth]?.eventsPerSecond ?? NaN)));
  const sizes = { cores: availableParallelism(), load: round(loadavg()[0] ?? 0), ...plan };
  const figures = { bench: 'processes', ...sizes, '1 process': summary(alone), '2 processes': summary(two), ratio };
  return { isGood: measured.flat().every(({ isExact }) => isExact), figures };
}

function summary(rounds: readonly Measured[]) {
  const parts = Object.keys(rounds[0]?.cpuUs ?? {});
  const cpuUs = parts.map((part) => [part, median(rounds.map((one) => one.cpuUs[part] ?? 0))]);
  return { eventsPerSecond: median(rounds.map((one) => one.eventsPerSecond)), cpuUs: Object.fromEntries(cpuUs) };
}

async function openBench(count: number, opened: AsyncDisposableStack): Promise<Bench> {
  const receivers = opened.use(await startReceivers());
  const stack = opened.use(await openInstallation(count));
  const scenes = await Promise.all(Array.from({ length: SOURCES }, () => addScene(stack, receivers.hookUrl)));
  return { count, stack, receivers, keys: scenes.map(({ writeKey }) => writeKey) };
}

/** Until every process knows every key and destination, and has compiled its code. */
async function warmUp(bench: Bench, events: number): Promise<void> {
  let nth = 0;
  const isKnown = async () => {
    nth += 1;
    const one = await measure(bench, `known-${nth}`, SOURCES * CALLS_A_REQUEST * 4, 5_000).catch(() => undefined);
    return one?.isExact === true;
  };
  await until(isKnown, PATIENCE_MS);
  await measure(bench, 'warm', events);
}

async function measure(bench: Bench, name: string, events: number, patienceMs = PATIENCE_MS): Promise<Measured> {
  const { count: processes, stack, receivers } = bench;
  await receivers.reset();
  const before = stack.cpuUs();
  const startedAt = Number(process.hrtime.bigint() / 1_000n) / 1_000;
  await sendAll(bench, `${processes}-${name}`, events);
  await until(async () => (await receivers.look()).count >= events, patienceMs);
  const { count, distinct, lastAt } = await receivers.look();
  await recorded(stack);
  const after = stack.cpuUs();
  return {
    eventsPerSecond: Math.round((events * 1_000) / (lastAt - startedAt)),
    cpuUs: Object.fromEntries(
      Object.entries(after).map(([part, us]) => [part, round((us - (before[part] ?? 0)) / events)]),
    ),
    isExact: count === events && distinct === events,
  };
}

/** The record is written behind the deliveries. Its cost belongs to this round, and must not disturb the next one. */
async function recorded(stack: Installation): Promise<void> {
  const used = () => stack.cpuUs()['postgres'] ?? 0;
  let before = -Infinity;
  let lookedAt = 0;
  await until(() => {
    if (performance.now() - lookedAt < QUIET_MS) return false;
    lookedAt = performance.now();
    const grown = used() - before;
    before = used();
    return grown < QUIET_MS * QUIET_US_A_MS;
  }, PATIENCE_MS);
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

import { availableParallelism, loadavg } from 'node:os';
import { addScene } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { orderCall } from '../order-call.ts';
import { useAllCores } from '../pin.ts';
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
/** Sources of an installation whose destinations get events one by one, or in batches. */
type Bench = { name: string; stack: Installation; receivers: Receivers; keys: readonly string[] };

/**
 * Events a second from the first call over HTTP to the last delivery, by one process and by two, one event a POST and in batches, all in turns, with
 * the CPU of each part. Two processes gain only where a core is free: three NATS servers, PostgreSQL, the senders and the receivers run here too.
 */
export async function benchProcesses({ isQuick }: BenchOptions): Promise<Verdict> {
  useAllCores();
  const plan = isQuick ? { rounds: 1, events: 2_000 } : { rounds: 5, events: 20_000 };
  await using opened = new AsyncDisposableStack();
  const benches: Bench[] = [];
  for (const count of COUNTS) benches.push(...(await openBenches(count, opened)));
  for (const bench of benches) await warmUp(bench, plan.events);
  const measured = benches.map((): Measured[] => []);
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const [nth, bench] of benches.entries()) {
      const one = await measure(bench, String(round), plan.events);
      measured[nth]?.push(one);
      console.log(`${bench.name}: ${JSON.stringify(one)}`);
    }
  }
  const byName = new Map(benches.map(({ name }, nth) => [name, measured[nth] ?? []]));
  const ratioOf = (name: string, to: string) => {
    const base = byName.get(to)?.map((each) => each.eventsPerSecond) ?? [];
    return spreadOf((byName.get(name) ?? []).map(({ eventsPerSecond }, nth) => eventsPerSecond / (base[nth] ?? NaN)));
  };
  const ratios = {
    '2 to 1': ratioOf('2, single', '1, single'),
    'batches, 2 to 1': ratioOf('2, batches', '1, batches'),
    'batches to single, 1': ratioOf('1, batches', '1, single'),
    'batches to single, 2': ratioOf('2, batches', '2, single'),
  };
  const sizes = { cores: availableParallelism(), load: round(loadavg()[0] ?? 0), ...plan };
  const summaries = Object.fromEntries([...byName].map(([name, rounds]) => [name, summary(rounds)]));
  const figures = { bench: 'processes', ...sizes, ...summaries, ratios };
  return { isGood: measured.flat().every(({ isExact }) => isExact), figures };
}

function summary(rounds: readonly Measured[]) {
  const parts = Object.keys(rounds[0]?.cpuUs ?? {});
  const cpuUs = parts.map((part) => [part, median(rounds.map((one) => one.cpuUs[part] ?? 0))]);
  return { eventsPerSecond: median(rounds.map((one) => one.eventsPerSecond)), cpuUs: Object.fromEntries(cpuUs) };
}

async function openBenches(count: number, opened: AsyncDisposableStack): Promise<Bench[]> {
  const receivers = opened.use(await startReceivers());
  const stack = opened.use(await openInstallation(count));
  const keysWith = async (settings: object) => {
    const scenes = Array.from({ length: SOURCES }, () => addScene(stack, receivers.hookUrl, settings));
    return (await Promise.all(scenes)).map(({ writeKey }) => writeKey);
  };
  return [
    { name: `${count}, single`, stack, receivers, keys: await keysWith({}) },
    { name: `${count}, batches`, stack, receivers, keys: await keysWith({ bodyFormat: 'batch' }) },
  ];
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
  const { stack, receivers } = bench;
  await receivers.reset();
  const before = stack.cpuUs();
  const startedAt = Number(process.hrtime.bigint() / 1_000n) / 1_000;
  await sendAll(bench, name, events);
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

async function sendAll({ name: bench, stack, keys }: Bench, round: string, events: number): Promise<void> {
  let sent = 0;
  const send = async () => {
    while (sent < events) {
      const first = sent;
      sent += CALLS_A_REQUEST;
      const batch = Array.from({ length: Math.min(CALLS_A_REQUEST, events - first) }, (_, index) => ({
        type: 'track',
        messageId: `${bench}-${round}-${first + index}`,
        ...orderCall(first + index),
      }));
      const status = await stack.send(keys[(first / CALLS_A_REQUEST) % keys.length] ?? '', batch);
      if (status !== 200) throw new Error(`a request was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

import { cpuUs } from '../cpu-us.ts';
import { median, round, spreadOf } from '../spread.ts';

/** A server under test, and how to load it. */
export type Running = AsyncDisposable & {
  pid: number;
  natsPid: number;
  /** Loads it for this many seconds; resolves with the number of requests answered 200. */
  drive(seconds: number, run: string): Promise<number>;
  storedMessages(): Promise<number>;
};

export type Contender = { callsPerRequest: number; open(): Promise<Running> };
export type Comparison = {
  /** Median over the slices of first's CPU per call divided by second's. */
  ratio: number;
  min: number;
  max: number;
  /** Medians, in microseconds of CPU a call. */
  firstUs: number;
  secondUs: number;
  natsUs: number;
  isConclusive: boolean;
};

type Plan = { launches: number; slices: number; seconds: number };
type Slice = { ratio: number; firstUs: number; secondUs: number; natsUs: number };

const WARM_UP_REQUESTS = 12_000;
/** The server counts the requests in flight at the end of a slice, and the load generator does not. */
const IN_FLIGHT = 32;

export async function compare(first: Contender, second: Contender, plan: Plan): Promise<Comparison> {
  const slices: Slice[] = [];
  for (let launch = 0; launch < plan.launches; launch += 1) {
    // The server that starts first is a little worse off, so they take turns.
    await using opened = await openBoth(first, second, launch % 2 === 0);
    const { a, b } = opened;
    await Promise.all([warmUp(a, plan), warmUp(b, plan)]);
    for (let slice = 0; slice < plan.slices; slice += 1) {
      const run = `${launch}-${slice}`;
      const [costA, costB] = await Promise.all([measure(a, plan, run), measure(b, plan, run)]);
      slices.push({
        ratio: costA.us / costB.us,
        firstUs: costA.us / first.callsPerRequest,
        secondUs: costB.us / second.callsPerRequest,
        natsUs: costA.natsUs / first.callsPerRequest,
      });
    }
  }
  return summarize(slices);
}

async function openBoth(first: Contender, second: Contender, isFirstFirst: boolean) {
  const stack = new AsyncDisposableStack();
  const early = stack.use(await (isFirstFirst ? first : second).open());
  const late = stack.use(await (isFirstFirst ? second : first).open());
  const [a, b] = isFirstFirst ? [early, late] : [late, early];
  return { a, b, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Cold code costs two to three times as much, so it is warmed by count, not by time. */
async function warmUp(server: Running, plan: Plan): Promise<void> {
  let requests = 0;
  for (let round = 0; requests < WARM_UP_REQUESTS; round += 1) {
    requests += await server.drive(plan.seconds, `warm-${process.pid}-${round}-${performance.now()}`);
  }
}

async function measure(server: Running, plan: Plan, run: string): Promise<{ us: number; natsUs: number }> {
  const storedBefore = await server.storedMessages();
  const before = cpuUs(server.pid);
  const natsBefore = cpuUs(server.natsPid);
  const requests = await server.drive(plan.seconds, `${run}-${performance.now()}`);
  const us = cpuUs(server.pid) - before;
  const natsUs = cpuUs(server.natsPid) - natsBefore;
  const stored = (await server.storedMessages()) - storedBefore;
  if (stored < requests || stored > requests + IN_FLIGHT) {
    throw new Error(`void: ${requests} requests were answered but ${stored} messages were stored`);
  }
  return { us: us / requests, natsUs: natsUs / requests };
}

function summarize(slices: Slice[]): Comparison {
  const { median: ratio, ...spread } = spreadOf(slices.map((slice) => slice.ratio));
  return {
    ratio,
    ...spread,
    firstUs: round(median(slices.map((slice) => slice.firstUs))),
    secondUs: round(median(slices.map((slice) => slice.secondUs))),
    natsUs: round(median(slices.map((slice) => slice.natsUs))),
  };
}

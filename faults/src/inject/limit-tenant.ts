import { type Complaint, trueOnes } from '../complaints.ts';
import { judgeLatency, type LatencyBound, NOISY, startedIn, STRICT } from '../deliver/judge-latency.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import { askOften } from '../limits/ask-often.ts';
import { startBurning } from '../limits/burn.ts';
import { allReached, type Greedy, startGreed } from '../limits/greed.ts';
import { openTenants } from '../limits/open-tenants.ts';
import { percentileMs, type Span, type Timed } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend } from '../wait-until.ts';

/** `burntMs`: how long the neighbour is measured beside work that has nothing to do with Millrace. */
type Sizes = { warmUpMs: number; quietMs: number; burntMs: number; duringMs: number; bound: LatencyBound };

const FULL: Sizes = {
  warmUpMs: 20_000,
  quietMs: 20_000,
  burntMs: 20_000,
  duringMs: 40_000,
  bound: { ...STRICT, floorMs: 10, times: 1.5 },
};
const CI: Sizes = { warmUpMs: 1_500, quietMs: 3_000, burntMs: 0, duringMs: 4_000, bound: { ...NOISY, times: 1.5 } };

const BATCHES_PER_SECOND = 40;
const API_EVERY_MS = 50;
/** The greedy workspace with its clients and receivers takes as much; measured on two cores. */
const GREEDY_CORES = 0.6;

/**
 * One workspace is at the limit of everything at once: calls, things it makes, hosts, storage, jobs, tails and requests. Another
 * one's calls, deliveries and requests take no longer than before, and nothing of it is refused.
 */
export async function limitTenant(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? FULL : CI;
  const { bound } = sizes;
  await using tenants = await openTenants(run);
  const { scene, well, greedy, plans } = tenants;
  const healthy = watchHealthy(scene, plans.well.destinations);
  const load = scene.load({ senders: plans.well.sources, batchesPerSecond: BATCHES_PER_SECOND, sizes: [2, 2] });
  await using asking = askOften(well, API_EVERY_MS);
  await spend(sizes.warmUpMs);
  const quiet = await spend(sizes.quietMs);
  const burnt = await spendBurning(sizes.burntMs);
  using greed = await startGreed(tenants);
  const notReached = await allReached(greedy, greed);
  const during = await spend(sizes.duringMs);
  const [seen] = await Promise.all([greed.stop(), asking.stop()]);
  await load.stop();
  const spans = { quiet, during };
  const compared = [
    healthy.compare('delivery', spans, bound),
    compareTimes({ name: 'collect', times: storedOf(scene), bound, percentile: 0.99 }, spans, scene),
    compareTimes({ name: 'api', times: asking.times, bound, percentile: 0.95 }, spans, scene),
  ];
  return joinFindings(
    await healthy.judge(),
    ...compared,
    burntFigures({ stored: storedOf(scene), asked: asking.times, delivered: healthy.latencies(burnt) }, burnt),
    costOf(scene, { asked: asking.statuses, greed: { ...seen, codes: greed.codes }, notReached }),
  );
}

async function spendBurning(forMs: number): Promise<Span> {
  if (forMs === 0) return spend(0);
  using _ = startBurning(GREEDY_CORES);
  return await spend(forMs);
}

type Noticed = Record<'delivered' | 'stored' | 'asked', readonly Timed[]>;

/** The same three times beside as much other work: no isolation between workspaces can be better than this. */
function burntFigures({ delivered, stored, asked }: Noticed, span: Span): Partial<Findings> {
  if (span.to - span.from < 1) return {};
  const at = (timed: readonly Timed[], part: number) => percentileMs(startedIn(timed, span), part);
  const figures = { deliveryP99Ms: at(delivered, 0.99), collectP99Ms: at(stored, 0.99), apiP95Ms: at(asked, 0.95) };
  return { figures: { [`besideOtherWorkOf${GREEDY_CORES}Cores`]: figures } };
}

/** The neighbour's calls, from the first try to the answer 200: one that was refused meanwhile is a slow one. */
function storedOf({ oracle }: DeliverScene): Timed[] {
  return wellCalls(oracle.calls).flatMap(({ firstSentAt, answered }) =>
    answered === undefined ? [] : [{ startedAt: firstSentAt, endedAt: answered.endedAt }],
  );
}

function wellCalls(calls: DeliverScene['oracle']['calls']) {
  return [...calls.values()].filter(({ sourceId }) => sourceId.startsWith('src_well'));
}

type Compared = { name: string; times: readonly Timed[]; bound: LatencyBound; percentile: number };

function compareTimes({ times, ...compared }: Compared, spans: { quiet: Span; during: Span }, scene: DeliverScene) {
  const machineLateMs = scene.machine.lateP99Ms(spans.during);
  const measured = { quiet: startedIn(times, spans.quiet), during: startedIn(times, spans.during) };
  return judgeLatency({ ...compared, ...measured, machineLateMs });
}

type Cost = {
  asked: ReadonlyMap<number, number>;
  greed: Greedy & { codes: ReadonlySet<string> };
  notReached: readonly string[];
};

function costOf({ oracle }: DeliverScene, { asked, greed, notReached }: Cost): Partial<Findings> {
  const unanswered = wellCalls(oracle.calls).filter(({ answered }) => answered === undefined).length;
  const complaints: Complaint[] = [
    [notReached.length > 0, `the greedy workspace was not at all its limits: ${notReached.join(', ')}`],
    [greed.calls.refused === 0, 'no call of the greedy workspace was refused'],
    [greed.calls.withoutRetryAfter > 0, 'a refusal of a call did not say when to send it again'],
    [oracle.attempts.some(({ outcome }) => outcome === 429), 'a call of the neighbour was refused'],
    [(greed.statuses.get(429) ?? 0) === 0, 'no request of the greedy workspace was refused'],
    [unanswered > 0, `${unanswered} calls of the neighbour were never taken`],
    [[...asked.keys()].some((status) => status !== 200), `the neighbour was answered ${[...asked.keys()].join(', ')}`],
  ];
  const figures = {
    greedyCalls: greed.calls,
    greedyAnswers: Object.fromEntries(greed.statuses),
    greedyRefusals: [...greed.codes],
    neighbourAnswers: Object.fromEntries(asked),
  };
  return { failures: trueOnes(complaints), figures };
}

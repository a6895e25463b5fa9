import { mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Senders } from '../batch-maker.ts';
import { type LatencyBound, NOISY, STRICT } from '../deliver/judge-latency.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { destinationIds, joinPlans, type Plan, planWorkspaces } from '../deliver/plan-workspaces.ts';
import { processFigures } from '../deliver/read-stats.ts';
import { watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import type { Span } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend, waitUntil } from '../wait-until.ts';

type Case = { hanging: number; delivers: number };
type Sizes = { quietMs: number; duringMs: number; perSecond: number; bound: LatencyBound };

const CI: Sizes = { quietMs: 2_500, duringMs: 5_000, perSecond: 40, bound: { ...NOISY, times: 3 } };
const FULL: Sizes = { quietMs: 10_000, duringMs: 20_000, perSecond: 50, bound: { ...STRICT, times: 3 } };
const CI_CASES: Case[] = [{ hanging: 300, delivers: 1 }];
const FULL_CASES: Case[] = [
  { hanging: 100, delivers: 1 },
  { hanging: 1_000, delivers: 1 },
  { hanging: 100, delivers: 4 },
  { hanging: 1_000, delivers: 4 },
];
/** Events for those that hang: from twenty sources, each with as many receivers as a source may have, or fewer. */
const STIR_SOURCES = 20;
const STIR_PER_SECOND = 8;
/** Of one batch: an event goes to all receivers of its source. */
const STIR_DELIVERIES = 50;
const WARM_PER_SECOND = 150;
const MAX_IN_FLIGHT = 1_000;
const MAX_RSS_MB = 600;

/**
 * Receivers that were silent for so long that no process remembers them, or that get their first event, beside very many that
 * begin to hang. Each of them is measured once.
 */
export async function quietReceivers(run: FaultRun): Promise<Findings> {
  const found: Findings[] = [];
  for (const each of run.isFull ? FULL_CASES : CI_CASES) found.push(await oneCase(run, each));
  return joinFindings(...found);
}

async function oneCase(run: FaultRun, { hanging, delivers }: Case): Promise<Findings> {
  const name = `hanging${hanging}x${delivers}`;
  const sizes = run.isFull ? FULL : CI;
  const { silent, fresh, bad } = planQuiet(sizes, hanging);
  const plan = joinPlans(silent, fresh, bad);
  const dir = join(run.dir, name);
  mkdirSync(dir);
  const others = Array.from({ length: delivers }, () => 'deliver' as const);
  const isKept = ({ destinationId }: { destinationId: string }) => !destinationId.startsWith('dst_bad');
  const shape = { nodes: 1, plan, behaviour: { status: 200 }, retryScale: 1, isKept } as const;
  await using scene = await openDeliverScene({ ...run, dir }, { ...shape, roles: ['collect', ...others] });
  await makeKnown(scene, silent, bad);
  const ids = destinationIds(bad);
  await scene.receivers.behave(ids, { status: 'hang' });
  const spans = await measure(scene, { silent, fresh, bad, sizes });
  const process = processFigures(scene.delivers, spans.during);
  const all = watchHealthy(scene, [...silent.destinations, ...fresh.destinations]);
  const failures = [
    ...(process.mostInFlight > MAX_IN_FLIGHT ? [`${name}: ${process.mostInFlight} attempts held a slot`] : []),
    ...(process.mostLate > MAX_IN_FLIGHT ? [`${name}: ${process.mostLate} attempts were late at a time`] : []),
    ...(process.mostRssMb > MAX_RSS_MB ? [`${name}: a process took ${process.mostRssMb} MB`] : []),
  ];
  const figures = { [`${name}Process`]: { ...process, loadAverage: loadavg()[0] } };
  const judged = await all.judge();
  return joinFindings(
    { failures: [...failures, ...judged.failures], late: judged.late, figures },
    watchHealthy(scene, silent.destinations).compare(`${name}Silent`, spans, sizes.bound),
    watchHealthy(scene, fresh.destinations).compare(`${name}New`, spans, sizes.bound),
  );
}

type Groups = { silent: Plan; fresh: Plan; bad: Plan };

/** Enough of each kind that no receiver is used twice. */
function planQuiet({ quietMs, duringMs, perSecond }: Sizes, hanging: number): Groups {
  const each = Math.ceil(((quietMs + duringMs + 1_000) / 1_000) * (perSecond / 2));
  const one = { workspaces: each, sourcesEach: 1, destinationsPerSource: 1 };
  return {
    silent: planWorkspaces({ name: 'silent', ...one }),
    fresh: planWorkspaces({ name: 'new', ...one }),
    bad: planWorkspaces({
      name: 'bad',
      workspaces: STIR_SOURCES,
      sourcesEach: 1,
      destinationsPerSource: hanging / STIR_SOURCES,
    }),
  };
}

/** The silent ones and half of those that will hang work once, and then processes take over that have never seen them. */
async function makeKnown(scene: DeliverScene, silent: Plan, bad: Plan): Promise<void> {
  const half = bad.sources.slice(STIR_SOURCES / 2);
  const senders = [...silent.sources, ...half] as unknown as Senders;
  const load = scene.load({ prefix: 'known', senders, batchesPerSecond: WARM_PER_SECOND, sizes: [1, 1], inTurn: true });
  await spend(((senders.length + 10) / WARM_PER_SECOND) * 1_000);
  await load.stop();
  const have = new Set<string>();
  await waitUntil('all silent receivers worked once', 30_000, async () => {
    await scene.receivers.heard();
    for (const { destinationId } of scene.arrivals) have.add(destinationId);
    return silent.destinations.every(({ id }) => have.has(id));
  });
  await Promise.all(scene.delivers.map((deliver) => deliver.kill('SIGTERM')));
  await Promise.all(scene.delivers.map((deliver) => deliver.start()));
}

async function measure(
  scene: DeliverScene,
  { silent, fresh, bad, sizes }: Groups & { sizes: Sizes },
): Promise<{ quiet: Span; during: Span }> {
  const senders = silent.sources.flatMap((source, index) => [source, fresh.sources[index] ?? source]);
  const once = { senders: senders as unknown as Senders, sizes: [1, 1], inTurn: true } as const;
  const load = scene.load({ ...once, prefix: 'measured', batchesPerSecond: sizes.perSecond });
  const quiet = await spend(sizes.quietMs);
  // The same number of deliveries for any number of hanging receivers: each of a few gets more.
  const size = Math.round(STIR_DELIVERIES / (bad.destinations.length / STIR_SOURCES));
  const stir = { prefix: 'stir', senders: bad.sources, sizes: [size, size], inTurn: true } as const;
  const stirrer = scene.load({ ...stir, batchesPerSecond: STIR_PER_SECOND });
  const during = await spend(sizes.duringMs);
  await Promise.all([load.stop(), stirrer.stop()]);
  return { quiet, during };
}

import { loadavg } from 'node:os';
import { type Complaint, trueOnes } from '../complaints.ts';
import { HOSTILITIES, type Hostility } from '../deliver/hostilities.ts';
import { NOISY, STRICT } from '../deliver/judge-latency.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { type Hostile, openHostile } from '../deliver/open-hostile.ts';
import { joinPlans, planWorkspaces } from '../deliver/plan-workspaces.ts';
import { cpuPercent, usageOf } from '../deliver/process-usage.ts';
import { processFigures } from '../deliver/read-stats.ts';
import { type Healthy, watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import type { Span } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend } from '../wait-until.ts';

const MAX_RSS_MB = 600;
/** A new process compiles its code for the first half minute; a quiet time measured then would allow any delay. */
const WARM_UP_MS = { full: 40_000, ci: 2_000 };
const HEALTHY_LOAD = { batchesPerSecond: 40, sizes: [5, 5] } as const;
const HOSTILE_LOAD = { batchesPerSecond: 20, sizes: [5, 5], inTurn: true } as const;

/** Receivers answer with floods, bombs and broken connections. Each costs a bounded part of the process, and others nothing. */
export async function attackFromReceivers(run: FaultRun): Promise<Findings> {
  using hostile = await openHostile(run.dir, HOSTILITIES);
  const well = planWorkspaces({ name: 'well', workspaces: 10, sourcesEach: 2, destinationsPerSource: 1 });
  const plan = joinPlans(well, ...hostile.plans.values());
  const isKept = ({ destinationId }: { destinationId: string }) => destinationId.startsWith('dst_well');
  const shape = { behaviour: { status: 200 }, retryScale: 1, roles: ['collect,deliver'], isKept } as const;
  await using scene = await openDeliverScene(run, { nodes: 1, plan, ...shape });
  const healthy = watchHealthy(scene, well.destinations);
  const load = scene.load({ senders: well.sources, ...HEALTHY_LOAD });
  await spend(run.isFull ? WARM_UP_MS.full : WARM_UP_MS.ci);
  const quiet = await measured(scene, run.isFull ? 20_000 : 4_000);
  const findings: Findings[] = [];
  // In CI all together, which is the worst; in full size one after the other before that.
  const rounds: Round[] = [{ name: 'all', hostilities: HOSTILITIES }];
  if (run.isFull) rounds.unshift(...HOSTILITIES.map((one) => ({ name: one, hostilities: [one] })));
  for (const round of rounds) findings.push(await attack(run, round, { scene, hostile, healthy, quiet }));
  await load.stop();
  const figures = { quietCpuPercent: quiet.cpu, loadAverage: loadavg()[0] };
  return joinFindings(...findings, { figures }, await healthy.judge());
}

type Round = { name: string; hostilities: readonly Hostility[] };
type Measured = Span & { cpu: number };
type Stage = { scene: DeliverScene; hostile: Hostile; healthy: Healthy; quiet: Measured };

async function attack(run: FaultRun, { name, hostilities }: Round, stage: Stage): Promise<Findings> {
  const { scene, hostile, healthy, quiet } = stage;
  const [first, ...others] = hostilities.flatMap((one) => hostile.plans.get(one)?.sources ?? []);
  if (first === undefined) throw new Error(`no receiver is hostile by ${name}`);
  const load = scene.load({ ...HOSTILE_LOAD, prefix: name, senders: [first, ...others] });
  const during = await measured(scene, run.isFull ? 10_000 : 6_000);
  await load.stop();
  const process = { ...processFigures(scene.delivers, during), cpuPercent: during.cpu };
  const complaints: Complaint[] = [
    [!(process.mostRssMb < MAX_RSS_MB), `${name}: the process took ${process.mostRssMb} MB`],
  ];
  return joinFindings(healthy.compare(name, { quiet, during }, run.isFull ? STRICT : NOISY), {
    failures: trueOnes(complaints),
    figures: { [`${name}, process`]: process },
  });
}

/** With the part of a core that the process used meanwhile. */
async function measured({ collect }: DeliverScene, ms: number): Promise<Measured> {
  const before = usageOf(collect.pid());
  const span = await spend(ms);
  return { ...span, cpu: cpuPercent(before, usageOf(collect.pid())) };
}

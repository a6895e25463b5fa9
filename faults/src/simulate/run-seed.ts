/** One run: a seed decides the installation, the load, the faults and every delay. The same seed gives the same run. */
import './clock/virtual-globals.ts';
import { setRest } from '../../../server/src/pause.ts';
import { seededRandom } from '../seeded-random.ts';
import { configOf } from './change-config.ts';
import { type FaultPlan, FAULTS, injectFaults } from './faults.ts';
import { checkEnd, isDrained } from './check-end.ts';
import type { SimDestination, Violation } from './oracle.ts';
import type { Plant } from './plants.ts';
import { sendLoad } from './send-load.ts';
import { openWorld, type Played, type World } from './world.ts';

export type RunNeeds = {
  seed: number;
  /** Kinds of faults; by default the seed picks some. */
  kinds?: readonly string[] | undefined;
  plant?: Plant | undefined;
  /** How long clients send, in simulated milliseconds. */
  loadMs?: number | undefined;
  /** Gets the world before it begins, to look into it afterwards. */
  onWorld?(world: World): void;
};

export type RunReport = {
  seed: number;
  kinds: readonly string[];
  simulatedMs: number;
  events: number;
  accepted: number;
  posts: number;
  repeated: number;
  faults: number;
  /** Of every event with its time, and of what happened in which order. */
  trace: string;
  order: string;
  violations: Violation[];
};

const LOAD_MS = 180_000;
/**
 * Every fourth seed is a run in slow motion: requests and faults are rarer and faults last longer, up to four hours, while the product's own
 * times stay. So retries come to their end, and leases, marks and windows pass in quiet.
 */
const SLOW_MOTION = 60;
/** Of every 16 seeds in a row, eight simulate processes whose loops share their beats, as at rest, and eight those of processes that work. */
const WORKS = 8;
/** Longer than the longest retry delay, by far: after the faults everything arrives. */
const DRAIN_MS = 3 * 3_600_000;
const DRAIN_STEP_MS = 30_000;
const START_MS = 3_000;

export async function runSeed({ seed, kinds, plant, loadMs, onWorld }: RunNeeds): Promise<RunReport> {
  const dice = seededRandom(seed);
  // Drawn also when they are given: the rest of the run is the same then.
  const drawn = Object.keys(FAULTS).filter(() => dice.next() < 0.5);
  const chosen = kinds ?? drawn;
  const world = openWorld({ seed, destinations: destinationsBy(seed), retryScale: dice.pick([1, 10, 60]), plant });
  onWorld?.(world);
  setRest((seed & WORKS) === 0);
  const rejected = (error: unknown) => world.oracle.blame('unhandled', String(error));
  process.on('unhandledRejection', rejected);
  try {
    const gapMs = dice.pick([100, 400, 2_000]);
    const haste = dice.pick([1, 2, 5]);
    const pace = loadMs === undefined && seed % 4 === 3 ? SLOW_MOTION : 1;
    const length = { loadMs: (loadMs ?? LOAD_MS) * pace, gapMs: gapMs * pace };
    const faults = await play(world, { seed, kinds: chosen, haste, pace, ...length });
    checkEnd(world);
    return reportOf(world, { seed, kinds: chosen, faults });
  } finally {
    process.off('unhandledRejection', rejected);
    for (const one of world.played) world.crash(one);
  }
}

type Playing = Omit<FaultPlan, 'untilMs'> & { loadMs: number; gapMs: number };

/** Start, load with faults, and then quiet until everything is drained. */
async function play(world: World, { loadMs, gapMs, ...plan }: Playing): Promise<number> {
  const { clock, destinations } = world;
  const load = sendLoad(world, gapMs);
  for (const destination of destinations) world.outbox.change(configOf(destination));
  for (const role of ROLES) world.start(role);
  await clock.runUntil(START_MS);
  const faults = injectFaults(world, { ...plan, untilMs: loadMs });
  await clock.runUntil(loadMs);
  load.stop();
  // Clients that were not answered still try again.
  await clock.runUntil(clock.now() + DRAIN_STEP_MS);
  await untilCalm(world, faults.isOver);
  world.receivers.recover();
  startMissing(world);
  const giveUpAt = clock.now() + DRAIN_MS;
  while (!isDrained(world) && clock.now() < giveUpAt) await clock.runUntil(clock.now() + DRAIN_STEP_MS);
  // Once more, for what comes late: a second POST, a second holder.
  await clock.runUntil(clock.now() + DRAIN_STEP_MS);
  return faults.injected();
}

const ROLES = ['deliver', 'deliver', 'record', 'project', 'project'] as const;

function startMissing(world: World): void {
  const missing: Played['role'][] = [...ROLES];
  for (const { role } of world.played) if (missing.includes(role)) missing.splice(missing.indexOf(role), 1);
  for (const role of missing) world.start(role);
}

async function untilCalm({ clock }: World, isOver: () => boolean): Promise<void> {
  while (!isOver()) await clock.runUntil(clock.now() + DRAIN_STEP_MS);
}

const KINDS = [{}, { order: 'user' }, { bodyFormat: 'batch' }, { order: 'user', bodyFormat: 'batch' }] as const;

/** Two workspaces, with two sources that share nothing. Some destinations get batches, some one user's events one after the other. */
function destinationsBy(seed: number): SimDestination[] {
  const dice = seededRandom(seed ^ 0xd357);
  const count = 2 + (seed % 4);
  return Array.from({ length: count }, (_, index) => {
    const workspace = index % 2;
    const owner = { id: `dst_${index}`, workspaceId: `ws_${workspace}`, sourceId: `src_${workspace}` };
    const kind = dice.pick<Pick<SimDestination, 'order' | 'bodyFormat'>>(KINDS);
    return { ...owner, url: `https://d${index}.example/hook`, ...kind };
  });
}

function reportOf(
  world: World,
  { seed, kinds, faults }: { seed: number; kinds: readonly string[]; faults: number },
): RunReport {
  const { clock, oracle, trace } = world;
  const arrivals = [...oracle.arrivals.values()];
  return {
    seed,
    kinds,
    simulatedMs: Math.round(clock.now()),
    events: clock.count(),
    accepted: oracle.sent
      .values()
      .filter(({ isAccepted }) => isAccepted)
      .toArray().length,
    posts: arrivals.reduce((sum, each) => sum + each.length, 0),
    repeated: arrivals.reduce((sum, each) => sum + Math.max(0, each.filter(({ isGood }) => isGood).length - 1), 0),
    faults,
    trace: trace.exact(),
    order: trace.order(),
    violations: oracle.violations,
  };
}

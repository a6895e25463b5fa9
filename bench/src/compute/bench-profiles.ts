import type { Verdict } from '../run.ts';
import { diskFigures, timeVacuum } from './disk-figures.ts';
import { openScene, type RunFigures, runReaders, type Scene } from './profile-scene.ts';
import { timeRelay } from './time-relay.ts';

const GOALS = { postgresUs: 88, profileBytes: 500, deadlocks: 0 };
const BATCH = 1_000;

/**
 * The profile store under readers with a synthetic fold: PostgreSQL's CPU time of an event, the contention of two readers, the bytes of a
 * profile on disk after many rewrites.
 */
export async function benchProfiles({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  const contention = await timeContention(isQuick ? 60_000 : 200_000);
  const sizes = isQuick ? [40_000] : [100_000, 1_000_000];
  const harsh = [];
  for (const users of sizes) harsh.push(await timeHarsh(users));
  const largest = harsh.at(-1);
  const isGood =
    Object.values(contention).every(({ deadlocks }) => deadlocks === GOALS.deadlocks) &&
    (largest?.run.postgresUs ?? Infinity) <= GOALS.postgresUs &&
    (largest?.disk.bytes ?? Infinity) <= GOALS.profileBytes;
  return { isGood, figures: { bench: 'profiles', goals: GOALS, contention, harsh } };
}

/** Few transitions and 40,000 users: the locks are what matters. */
async function timeContention(events: number): Promise<Record<string, RunFigures>> {
  await using scene = await openScene();
  const load = { ...scene.load, users: 40_000, transitionsPerEvent: 0.2, timerShare: 0.1, foldUs: 40 };
  const figures: Record<string, RunFigures> = {};
  const run = async (name: string, readers: number, hotShare: number) => {
    figures[name] = await runReaders(scene, { readers, batch: BATCH, events, load: { ...load, hotShare } });
    console.log(name, JSON.stringify(figures[name]));
  };
  await run('new profiles, two readers', 2, 0);
  await run('one reader', 1, 0);
  await run('two readers', 2, 0);
  await run('one reader, half of the events of 20 users', 1, 0.5);
  await run('two readers, half of the events of 20 users', 2, 0.5);
  return figures;
}

/** As in the largest installations: 2.2 transitions and a moved timer with each event, five events a user. */
async function timeHarsh(users: number) {
  await using scene = await openScene();
  const load = { ...scene.load, users, transitionsPerEvent: 1.7, timerShare: 1, foldUs: 0 };
  const run = await runReaders(scene, { readers: 2, batch: BATCH, events: users * 5, load });
  console.log(`${users} users`, JSON.stringify(run));
  const disk = diskFigures(scene);
  console.log(JSON.stringify(disk));
  const relay = await timeRelay(scene, Math.min(users, 200_000));
  const rewritten = await rewrite(scene, users);
  const vacuum = timeVacuum(scene);
  console.log(JSON.stringify({ relay, rewritten, vacuum }));
  return { users, run, disk, relay, rewritten, vacuum };
}

/** Three more events a user, without transitions. */
async function rewrite(scene: Scene, users: number) {
  const load = { ...scene.load, users, transitionsPerEvent: 0, timerShare: 0, foldUs: 0 };
  const run = await runReaders(scene, { readers: 2, batch: BATCH, events: users * 3, load });
  return { postgresUs: run.postgresUs, disk: diskFigures(scene) };
}

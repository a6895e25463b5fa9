import { setTimeout as sleep } from 'node:timers/promises';
import { type AudienceLoad, startAudienceLoad } from '../compute/audience-load.ts';
import { minuteAfter } from '../compute/audience-plan.ts';
import { type ComputeScene, openComputeScene, positionsOf } from '../compute/open-compute-scene.ts';
import { finishTransitions } from '../compute/read-outcome.ts';
import { openSmallDisk, type SmallDisk } from '../compute/small-disk.ts';
import { joinFindings } from '../join-findings.ts';
import { EVENT_STREAM_NAMES } from '../open-scene.ts';
import type { FaultRun, Figures, Findings } from '../run-fault.ts';
import { seededRandom } from '../seeded-random.ts';
import { waitUntil } from '../wait-until.ts';

type Sizes = { kills: number; leasesEvery: number; rounds: number; awayMs: number; fullMs: number };

const FULL: Sizes = { kills: 100, leasesEvery: 10, rounds: 3, awayMs: 5_000, fullMs: 15_000 };
const CI: Sizes = { kills: 5, leasesEvery: Infinity, rounds: 1, awayMs: 1_500, fullMs: 3_000 };
const LOAD = { users: 150, visits: 50, batchesPerSecond: 15 };
const DISK_MB = 300;
const VISITS_LAST_MS = 20_000;
const LEADER_DOWN_MS = 2_000;
const TAKEN_OVER_WITHIN_MS = 60_000;
const SETTLED_WITHIN_MS = 120_000;

/**
 * One of two compute processes is killed again and again; then one sleeps until another has taken its place, and wakes; PostgreSQL dies,
 * comes back, and has no room left; the leader of an event stream dies. In the end every history is that of an uninterrupted run.
 */
export async function killCompute(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? FULL : CI;
  using disk = openSmallDisk(DISK_MB);
  if (disk === undefined) run.say('no file system can be mounted here: the disk of PostgreSQL will not be full');
  await using scene = await openComputeScene(run, { nodes: 3, computes: 2, databaseDir: disk?.dir });
  const visitsEndAt = minuteAfter(Date.now(), VISITS_LAST_MS);
  const { writeKey, main } = scene;
  const random = seededRandom(run.seed + 1);
  const load = startAudienceLoad({ url: main.url, writeKey, random, visitsEndAt, ...LOAD });
  const figures = await strikeAll(run, scene, { load, disk, sizes });
  await load.stop();
  const found = await finishTransitions(scene, load, { run, visitsEndAt, withinMs: SETTLED_WITHIN_MS });
  return joinFindings({ figures }, found, judgeAnswers(load));
}

type Strikes = { load: AudienceLoad; disk: SmallDisk | undefined; sizes: Sizes };

async function strikeAll(run: FaultRun, scene: ComputeScene, { disk, sizes }: Strikes): Promise<Figures> {
  for (let kill = 1; kill <= sizes.kills; kill += 1) {
    await killOne(run, scene, kill % sizes.leasesEvery === 0);
    await sleep(run.random.between(100, 600));
  }
  run.say(`${sizes.kills} processes were killed`);
  for (let round = 0; round < sizes.rounds; round += 1) {
    const asleepMs = await wakeLate(run, scene);
    run.say(`a process was asleep for ${asleepMs} ms while another took its place`);
    await scene.database.stop();
    await sleep(sizes.awayMs);
    await scene.database.start();
    run.say('PostgreSQL was killed');
    await sleep(sizes.awayMs);
    if (disk !== undefined) await fillDisk(run, scene, { disk, fullMs: sizes.fullMs });
    await killLeaderOf(scene, EVENT_STREAM_NAMES[round % EVENT_STREAM_NAMES.length] ?? '');
    run.say('the leader of an event stream was killed');
  }
  return { kills: sizes.kills, rounds: sizes.rounds, isDiskFilled: disk !== undefined };
}

/** Without `hasLease` its streams are free at once: a run of many kills would be a run of waiting for leases. */
async function killOne({ random }: FaultRun, { computes, store }: ComputeScene, hasLease: boolean): Promise<void> {
  const victim = random.pick(computes);
  await victim.kill('SIGKILL');
  if (!hasLease) await store.asSystem((tx) => tx.query('UPDATE compute_positions SET holder = NULL'));
  await victim.start();
}

/** Asleep it holds what it holds, perhaps in the middle of a transaction. */
async function wakeLate({ random }: FaultRun, { computes, store }: ComputeScene): Promise<number> {
  const holders = async () => new Set((await positionsOf(store)).flatMap(({ holder }) => holder ?? [])).size;
  await waitUntil(
    'every process holds a stream',
    TAKEN_OVER_WITHIN_MS,
    async () => (await holders()) === computes.length,
  );
  const pid = random.pick(computes).pid() ?? 0;
  const epochs = async () => (await positionsOf(store)).map(({ epoch }) => epoch).join();
  const before = await epochs();
  process.kill(pid, 'SIGSTOP');
  const asleepMs = await waitUntil('a stream has a new holder', TAKEN_OVER_WITHIN_MS, async () => {
    return (await epochs()) !== before;
  });
  process.kill(pid, 'SIGCONT');
  return Math.round(asleepMs);
}

async function fillDisk(
  run: FaultRun,
  { database, store }: ComputeScene,
  { disk, fullMs }: { disk: SmallDisk; fullMs: number },
): Promise<void> {
  const sequences = async () => (await positionsOf(store).catch(() => [])).map(({ sequence }) => sequence).join();
  disk.fill();
  await sleep(fullMs);
  const before = await sequences();
  disk.free();
  await database.revive();
  await waitUntil('compute goes on', TAKEN_OVER_WITHIN_MS, async () => (await sequences()) !== before);
  run.say(`the disk of PostgreSQL was full for ${fullMs} ms`);
}

async function killLeaderOf({ engine }: ComputeScene, stream: string): Promise<void> {
  const leader = (await engine.leaders()).get(stream);
  if (leader === undefined) throw new Error(`${stream} has no leader`);
  await leader.kill('SIGKILL');
  await sleep(LEADER_DOWN_MS);
  await leader.start();
  await engine.hasLeaders();
}

/** Collect needs NATS and nothing else: only the kill of a leader may cost it an answer. */
function judgeAnswers({ answers }: AudienceLoad): Partial<Findings> {
  const others = [...answers.keys()].filter((answer) => answer !== '200' && answer !== '503');
  return { failures: others.map((answer) => `collect answered ${answer}`) };
}

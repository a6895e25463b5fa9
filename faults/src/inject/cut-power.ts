import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinFindings } from '../join-findings.ts';
import { judge, type Promises } from '../judge.ts';
import { openScene, type Scene, settingsFor, STEADY } from '../open-scene.ts';
import { CUT_MODES, type CutMode, type Losses, openPowerDisk, type PowerDisk } from '../power/open-power-disk.ts';
import { sumLosses } from '../power/sum-losses.ts';
import { readStored } from '../read-stored.ts';
import type { Figures, FaultRun, Findings } from '../run-fault.ts';
import { type Random, seededRandom } from '../seeded-random.ts';
import { cutDatabasePower } from './cut-database-power.ts';

type Cut = { servers: number[]; mode: CutMode; seed: number };
type Sync = 'always' | 'default';

const PROMISES: Promises = { duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false };
const SERVERS = [0, 1, 2];
const QUIET_MS = [500, 2_000] as const;
/** Processes learn of new leaders a little later than we do. */
const AFTERMATH_MS = 1_000;
/** They lose enough to be noticed, and 200 would take as long as those with sync. */
const CONTROL_CUTS = 24;
const CUTS_A_ROUND = 6;

/**
 * The power of one NATS server, of two and of all three fails under load, again and again, and then that of PostgreSQL. Disks keep what was
 * synced, and of the rest what the dice say. In full size the first of these cuts then hit servers that sync as NATS does by default, to
 * show that the disks lose enough to be noticed.
 */
export async function cutPower(run: FaultRun): Promise<Findings> {
  const cuts = planCuts(run.random, run.isFull ? 200 : 3);
  const calls = await cutServers(run, cuts, 'always');
  run.say(`sync always: ${JSON.stringify(calls)}`);
  const record = await cutDatabasePower(run, run.isFull ? 20 : 2);
  const figures = { cuts: cuts.length, ...calls.figures, database: record.figures };
  const found = { failures: [...calls.failures, ...record.failures], late: [...calls.late, ...record.late], figures };
  return run.isFull ? joinFindings(found, await cutWithoutSync(run, cuts.slice(0, CONTROL_CUTS))) : found;
}

/** One server, two, three, and again. The dice choose which of them, and how much is lost. */
function planCuts(random: Random, count: number): Cut[] {
  return Array.from({ length: count }, (_, index) => {
    const order = SERVERS.map((server) => ({ server, at: random.next() })).toSorted((a, b) => a.at - b.at);
    const servers = order.slice(0, 1 + (index % SERVERS.length)).map(({ server }) => server);
    return { servers, mode: random.pick(CUT_MODES), seed: Math.floor(random.between(1, 1_000_000)) };
  });
}

async function cutServers(run: FaultRun, cuts: readonly Cut[], sync: Sync): Promise<Findings> {
  await using parts = new AsyncDisposableStack();
  const dir = mkdtempSync(join(run.dir, 'disks-'));
  const disks: PowerDisk[] = [];
  for (const server of SERVERS) {
    disks.push(parts.use(await openPowerDisk(join(dir, `n${server + 1}`))));
  }
  const storeDirs = disks.map(({ dir }) => dir);
  const scene = parts.use(await openScene(run, { nodes: 3, batchesPerSecond: STEADY, storeDirs }));
  if (sync === 'default') await restartWith(scene, sync);
  const random = seededRandom(run.seed + 3);
  const lost: Losses[] = [];
  for (const [index, cut] of cuts.entries()) {
    await sleep(random.between(...QUIET_MS));
    const losses = await cutOnce(scene, disks, { ...cut, sync });
    const { servers, mode } = cut;
    run.say(
      `sync ${sync}: cut ${index + 1} of ${cuts.length}, of servers ${servers.join()} (${mode}): ${JSON.stringify(losses)}`,
    );
    lost.push(...losses);
  }
  const found = sync === 'default' ? await countLost(scene) : await scene.finish(PROMISES);
  return joinFindings(found, { figures: { unsynced: sumLosses(lost) } });
}

/** By the leaders alone: replicas that have lost data may never be as long as their leader again. */
async function countLost({ cluster, engine, oracle, load }: Scene): Promise<Partial<Findings>> {
  await load.stop();
  await engine.hasLeaders();
  const stored = await readStored(settingsFor(cluster.url, 3));
  const { lost } = judge({ ...oracle, stored, disturbances: [] }, PROMISES);
  return { figures: { callsSent: oracle.calls.size, lost: lost.length } };
}

/** Collect starts only with servers that sync every write. An operator could change that setting behind its back. */
async function restartWith({ cluster, engine }: Scene, sync: Sync): Promise<void> {
  for (const node of cluster.nodes) {
    await node.kill('SIGTERM');
    await node.start({ sync });
    await engine.isCaughtUp();
  }
}

/** Kills first: a process that lives would see errors of its disk, which a machine without power does not. */
async function cutOnce(scene: Scene, disks: readonly PowerDisk[], cut: Cut & { sync: Sync }): Promise<Losses[]> {
  const { cluster, engine, oracle, load, disturb } = scene;
  const from = performance.now();
  const nodes = cluster.nodes.filter((_, index) => cut.servers.includes(index));
  const theirs = disks.filter((_, index) => cut.servers.includes(index));
  await load.burst();
  await Promise.all(nodes.map((node) => node.kill('SIGKILL')));
  const losses = await Promise.all(theirs.map((disk, index) => disk.cut(cut.seed + index, cut.mode)));
  await Promise.all(theirs.map((disk) => disk.restore()));
  const started = nodes.map((node) => node.start({ sync: cut.sync }));
  await Promise.all([oracle.nextStored(performance.now()), engine.hasLeaders(), ...started]);
  await sleep(AFTERMATH_MS);
  disturb({ from, to: performance.now() });
  return losses;
}

/**
 * The control: it must lose acknowledged calls, or the cuts are none. New servers begin each round, because those that have lost enough may
 * never agree on a leader again; then no one can count their losses.
 */
async function cutWithoutSync(run: FaultRun, cuts: readonly Cut[]): Promise<Partial<Findings>> {
  const rounds: Figures[] = [];
  for (let from = 0; from < cuts.length; from += CUTS_A_ROUND) {
    const round = cutServers(run, cuts.slice(from, from + CUTS_A_ROUND), 'default');
    rounds.push(
      await round.then(
        ({ figures }) => figures,
        (error: unknown) => ({ broken: String(error) }),
      ),
    );
    run.say(`sync default: ${JSON.stringify(rounds.at(-1))}`);
  }
  const sum = (name: string) => rounds.reduce((all, { [name]: value }) => all + Number(value ?? 0), 0);
  const [lost, sent, broken] = [sum('lost'), sum('callsSent'), rounds.filter((round) => 'broken' in round).length];
  const failures = lost === 0 ? ['servers that sync by default lost nothing either: the cuts are none'] : [];
  return {
    failures,
    figures: { withoutSync: { cuts: cuts.length, rounds: rounds.length, broken, callsSent: sent, lost } },
  };
}

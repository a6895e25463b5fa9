import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRecorderScene } from '../deliver/open-recorder-scene.ts';
import { joinFindings } from '../join-findings.ts';
import { openScene, type Scene, STEADY } from '../open-scene.ts';
import { type CutMode, type Losses, openPowerDisk, type PowerDisk } from '../power/open-power-disk.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { type Random, seededRandom } from '../seeded-random.ts';
import { finishExactly } from './stop-recorder.ts';

type Cut = { servers: number[]; mode: CutMode; seed: number };
type Sync = 'always' | 'default';

const SERVERS = [0, 1, 2];
const MODES = ['torn', 'part', 'drop'] as const;
const QUIET_MS = [500, 2_000] as const;
/** Processes learn of new leaders a little later than we do. */
const AFTERMATH_MS = 1_000;
/** They lose enough to be noticed, and 200 would take as long as those with sync. */
const CONTROL_CUTS = 24;
const DATABASE_LOAD = { batchesPerSecond: 20, sizes: [5, 5] } as const;

/**
 * The power of one NATS server, of two and of all three fails under load, again and again, and then that of PostgreSQL. Disks keep what was
 * synced, and of the rest what the dice say. In full size the first of these cuts then hit servers that sync as NATS does by default, to
 * show that the disks lose enough to be noticed.
 */
export async function cutPower(run: FaultRun): Promise<Findings> {
  const cuts = planCuts(run.random, run.isFull ? 200 : 3);
  const calls = await cutServers(run, cuts, 'always');
  const record = await cutDatabase(run, run.isFull ? 20 : 2);
  const figures = { cuts: cuts.length, ...calls.figures, database: record.figures };
  const found = { failures: [...calls.failures, ...record.failures], late: [...calls.late, ...record.late], figures };
  return run.isFull ? joinFindings(found, await cutWithoutSync(run, cuts.slice(0, CONTROL_CUTS))) : found;
}

/** One server, two, three, and again. The dice choose which of them, and how much is lost. */
function planCuts(random: Random, count: number): Cut[] {
  return Array.from({ length: count }, (_, index) => {
    const order = SERVERS.map((server) => ({ server, at: random.next() })).toSorted((a, b) => a.at - b.at);
    const servers = order.slice(0, 1 + (index % SERVERS.length)).map(({ server }) => server);
    return { servers, mode: random.pick(MODES), seed: Math.floor(random.between(1, 1_000_000)) };
  });
}

async function cutServers(run: FaultRun, cuts: readonly Cut[], sync: Sync): Promise<Findings> {
  await using parts = new AsyncDisposableStack();
  const disks: PowerDisk[] = [];
  for (const server of SERVERS) {
    disks.push(parts.use(await openPowerDisk(join(run.dir, `disks-${sync}`, `n${server + 1}`))));
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
  const found = await scene.finish({ duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false });
  return joinFindings(found, { figures: { unsynced: sumOf(lost) } });
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

/** The control: it must lose acknowledged calls, or the cuts are none. */
async function cutWithoutSync(run: FaultRun, cuts: readonly Cut[]): Promise<Partial<Findings>> {
  const { figures } = await cutServers(run, cuts, 'default');
  const failures = figures['lost'] === 0 ? ['servers that sync by default lost nothing either: the cuts are none'] : [];
  return { failures, figures: { lostWithoutSync: figures['lost'], withoutSync: figures } };
}

/** The recorder writes all the time, and the record has to equal the receivers afterwards. */
async function cutDatabase(run: FaultRun, count: number): Promise<Findings> {
  // PostgreSQL runs as a user of its own, which may not read this folder but has to pass through it.
  chmodSync(run.dir, 0o711);
  await using disk = await openPowerDisk(join(run.dir, 'disk-of-postgres'));
  const place = { dir: disk.dir, options: '-c fsync=on' };
  await using whole = await openRecorderScene(run, { database: place });
  // The folder was copied there a moment ago.
  await disk.sync();
  const { database } = whole;
  const load = whole.scene.load(DATABASE_LOAD);
  const lost: Losses[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await sleep(run.random.between(...QUIET_MS));
    const mode = run.random.pick(MODES);
    await database.kill();
    const losses = await disk.cut(run.seed + nth, mode);
    await disk.restore();
    await database.start();
    run.say(`PostgreSQL: cut ${nth + 1} of ${count} (${mode}): ${JSON.stringify(losses)}`);
    lost.push(losses);
  }
  const found = await finishExactly(whole, load);
  return joinFindings({ figures: { cuts: count } }, found, { figures: { unsynced: sumOf(lost) } });
}

function sumOf(all: readonly Losses[]) {
  const sum = (name: keyof Losses) => all.reduce((total, losses) => total + losses[name], 0);
  return {
    pages: sum('pagesUnsynced'),
    pagesLost: sum('pagesLost'),
    pagesTorn: sum('pagesTorn'),
    bytesLost: sum('bytesLost'),
    names: sum('namesUnsynced'),
    namesLost: sum('namesLost'),
  };
}

import type { NatsCluster } from '@millrace/engines';
import { boundFor, callsIn, CARRIES_BOTH, judgeArrivals, judgeLost, judgeUnharmed } from '../cells/judge-cells.ts';
import type { CellSource } from '../cells/cell-source.ts';
import { type CellName, type CellScene, openCellScene } from '../cells/open-cell-scene.ts';
import { joinFindings } from '../join-findings.ts';
import { countOutcomes } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend, waitUntil } from '../wait-until.ts';

type Sizes = { perSecond: number; quietMs: number; lostMs: number };

const FULL: Sizes = { perSecond: 200, quietMs: 20_000, lostMs: 20_000 };
const CI: Sizes = { perSecond: 50, quietMs: 3_000, lostMs: 3_000 };
const WARM_UP_MS = 1_500;
/** Within this time calls of the lost cell go to its spare, or are refused at once; on a busy machine it is late. */
const SETTLES_WITHIN_MS = 3_000;
const SETTLED_WITHIN_MS = 60_000;
const BACK_WITHIN_MS = 60_000;
const A_FEW = 20;

/**
 * All servers of one cell die under load. Calls of the lost one go to its spare, which carries both loads; when the cell without a spare
 * dies, its calls get 503, and the other cell does not notice. In the end every call that was answered 200 has arrived.
 */
export async function loseCell(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? FULL : CI;
  await using scene = await openCellScene(run);
  const { main, eu } = scene.sources;
  const bound = boundFor(run.isFull);
  const loads = [main.start(sizes.perSecond), eu.start(sizes.perSecond)];
  await spend(WARM_UP_MS);
  const quiet = await spend(sizes.quietMs);

  const withSpare = await whileLost(run, scene, { source: eu, cell: 'eu', status: 200, lostMs: sizes.lostMs });
  const spared = judgeLost(eu, withSpare.settled, { status: 200, name: 'withSpare' });
  const switching = countOutcomes(callsIn(eu, withSpare.first));
  const carrying = {
    spans: { quiet, during: withSpare.during },
    bound: run.isFull ? CARRIES_BOTH : bound,
    name: 'main',
  };
  const mainUnharmed = judgeUnharmed(main, scene, carrying);

  const alone = await whileLost(run, scene, { source: main, cell: 'main', status: 503, lostMs: sizes.lostMs });
  const refused = judgeLost(main, alone.settled, { status: 503, name: 'withoutSpare' });
  const euUnharmed = judgeUnharmed(eu, scene, { spans: { quiet, during: alone.during }, bound, name: 'eu' });
  await Promise.all(loads.map((load) => load.stop()));
  const arrived = await judgeArrivals(scene, [main, eu]);
  const late = [withSpare, alone].flatMap((each) => each.late);
  return joinFindings(spared, mainUnharmed, refused, euUnharmed, arrived, { late, figures: { switching } });
}

type Loss = { source: CellSource; cell: CellName; status: 200 | 503; lostMs: number };

async function whileLost(run: FaultRun, scene: CellScene, { source, cell, status, lostMs }: Loss) {
  const cluster = scene.clusters[cell];
  await everyNode(cluster, (node) => node.kill('SIGKILL'));
  run.say(`${cell} is gone`);
  const { from } = await spend(SETTLES_WITHIN_MS);
  const lastFew = () => callsIn(source, { from, to: Infinity }).slice(-A_FEW);
  const isSettled = () => lastFew().length === A_FEW && lastFew().every(({ outcome }) => outcome === status);
  const late = isSettled() ? [] : [`calls of ${cell} were not answered ${status} after ${SETTLES_WITHIN_MS} ms`];
  await waitUntil(`calls of ${cell} are answered ${status}`, SETTLED_WITHIN_MS, isSettled);
  const first = { from, to: performance.now() };
  const settled = await spend(lostMs);
  await everyNode(cluster, (node) => node.start());
  // Not by an answer of collect: that may be the spare's.
  const before = await storedIn(cluster);
  await waitUntil(`${cell} stores calls again`, BACK_WITHIN_MS, async () => (await storedIn(cluster)) > before + A_FEW);
  run.say(`${cell} is back`);
  return { first, settled, late, during: { from, to: settled.to } };
}

type Jsz = { account_details?: { stream_detail?: { name: string; state: { last_seq: number } }[] }[] };

/** How many requests its event streams have ever stored. */
async function storedIn({ nodes }: NatsCluster): Promise<number> {
  const answer = await fetch(`${nodes[0]?.monitorUrl}/jsz?accounts=true&streams=true`);
  const { account_details: accounts = [] } = (await answer.json()) as Jsz;
  const streams = accounts.flatMap(({ stream_detail: details = [] }) => details);
  return streams.reduce((sum, { name, state }) => (name.startsWith('EVENTS-') ? sum + state.last_seq : sum), 0);
}

async function everyNode({ nodes }: NatsCluster, work: (node: NatsCluster['nodes'][number]) => Promise<void>) {
  await Promise.all(nodes.map(work));
}

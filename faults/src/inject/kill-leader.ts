import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsNode } from '@millrace/engines';
import { joinFindings } from '../join-findings.ts';
import { longestGapMs, percentileMs } from '../measure-attempts.ts';
import { EVENT_STREAM_NAMES, openScene, type Scene, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { followSchedule } from '../schedule.ts';

type Kill = { heldConnection: boolean; leaderlessMs: number; gapMs: number; slowestMs: number; refused: number };

const ROUND_MS = 10_000;
const DOWN_MS = 2_000;
/** 800 ms until a stream that owes answers counts as silent, and time to send again elsewhere. */
const MAX_GAP_MS = 1_500;
/** The collecting process learns of a new leader a little later than we do. */
const AFTERMATH_MS = 1_000;

/** One stream's leader dies every ten seconds; requests go to the other stream until there is a new one. */
export async function killLeader(run: FaultRun): Promise<Findings> {
  await using scene = await openScene(run, { nodes: 3, batchesPerSecond: STEADY });
  const rounds = run.isFull ? 6 : 2;
  const [first, second] = EVENT_STREAM_NAMES;
  const isHolderFirst = run.random.next() < 0.5;
  const kills: Kill[] = [];
  const atMs = Array.from({ length: rounds }, (_, round) => 1_000 + round * ROUND_MS);
  await followSchedule({ atMs, lengthMs: rounds * ROUND_MS }, async () => {
    const stream = kills.length % 2 === 0 ? first : second;
    const heldConnection = (kills.length % 2 === 0) === isHolderFirst;
    const kill = await killOnce(scene, { heldConnection, victim: await arrangeVictim(scene, stream, heldConnection) });
    run.say(`the leader of ${stream} died: ${JSON.stringify(kill)}`);
    kills.push(kill);
  });
  const found = await scene.finish({ duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false });
  const worstGapMs = Math.max(...kills.map((kill) => kill.gapMs));
  const late = worstGapMs > MAX_GAP_MS ? [`no 200 for ${worstGapMs} ms although one stream had a leader`] : [];
  return joinFindings({ late, figures: { kills: kills.length, worstGapMs } }, found, { figures: { each: kills } });
}

/** A server that leads this stream and not the other one, and that does or does not hold collect's connection. */
async function arrangeVictim(scene: Scene, stream: string, isHolder: boolean): Promise<NatsNode> {
  const { cluster, engine, disturb } = scene;
  const from = performance.now();
  await engine.isCaughtUp();
  const holder = await engine.holderOf('millrace-publish');
  const leaders = await engine.leaders();
  const fit = cluster.nodes.filter((node) => (node === holder) === isHolder);
  const victim = fit.find((node) => leaders.get(stream) === node) ?? fit[0];
  const bystander = cluster.nodes.find((node) => node !== victim);
  if (victim === undefined || bystander === undefined) throw new Error('no server holds the connection of collect');
  if (leaders.get(stream) !== victim) await engine.moveLeader(stream, victim);
  for (const [other, leader] of leaders) {
    if (other !== stream && leader === victim) await engine.moveLeader(other, bystander);
  }
  // A stream that has just moved is in trouble for a moment itself; only one of them may be when the leader dies.
  await sleep(AFTERMATH_MS);
  disturb({ from, to: performance.now() });
  return victim;
}

type KillOrder = { victim: NatsNode; heldConnection: boolean };

async function killOnce({ engine, oracle, load, disturb }: Scene, order: KillOrder): Promise<Kill> {
  const { victim, heldConnection } = order;
  const from = performance.now();
  await load.burst();
  await victim.kill('SIGKILL');
  const [leaderlessMs] = await Promise.all([engine.hasLeaders(), sleep(DOWN_MS).then(() => victim.start())]);
  await sleep(AFTERMATH_MS);
  const span = { from, to: performance.now() };
  disturb(span);
  const during = oracle.attempts.filter((attempt) => attempt.startedAt > span.from);
  const stored = during.filter((attempt) => attempt.outcome === 200);
  return {
    heldConnection,
    leaderlessMs: Math.round(leaderlessMs),
    gapMs: longestGapMs(oracle.attempts, span),
    slowestMs: percentileMs(stored, 1) ?? 0,
    refused: during.filter((attempt) => attempt.outcome === 503).length,
  };
}

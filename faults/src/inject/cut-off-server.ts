import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsNode } from '@millrace/engines';
import { joinFindings } from '../join-findings.ts';
import { longestGapMs } from '../measure-attempts.ts';
import { EVENT_STREAM_NAMES, openScene, type Scene, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';

type Cut = { led: string; servedAgainMs: number; gapMs: number };

const MAX_SERVED_AGAIN_MS = 8_000;
const QUIET_MS = 2_000;
/** Requests in flight when the server stopped may still have been answered. */
const ON_ITS_WAY_MS = 50;

/**
 * The server that collect talks to stops in the middle: its socket stays open and nothing answers any more.
 * A connection that only noticed closed sockets would wait for ever; collect has to leave by itself.
 */
export async function cutOffServer(run: FaultRun): Promise<Findings> {
  await using scene = await openScene(run, { nodes: 3, batchesPerSecond: STEADY });
  const cuts: Cut[] = [];
  for (let round = 0; round < (run.isFull ? 6 : 2); round += 1) {
    await sleep(QUIET_MS);
    const cut = await cutOnce(scene, { isLeader: round % 2 === 0 });
    run.say(`the server of collect was stopped: ${JSON.stringify(cut)}`);
    cuts.push(cut);
  }
  const found = await scene.finish({ duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false });
  const slowestMs = Math.max(...cuts.map((cut) => cut.servedAgainMs));
  const late = slowestMs > MAX_SERVED_AGAIN_MS ? [`served again only after ${slowestMs} ms`] : [];
  const figures = { cuts: cuts.length, slowestServedAgainMs: slowestMs };
  return joinFindings({ late, figures }, found, { figures: { each: cuts } });
}

async function cutOnce(scene: Scene, { isLeader }: { isLeader: boolean }): Promise<Cut> {
  const { engine, oracle, disturb } = scene;
  const victim = await engine.holderOf('millrace-publish');
  if (victim === undefined) throw new Error('no server holds the connection of collect');
  const arrangedAt = performance.now();
  await arrangeLeaders(scene, victim, isLeader);
  const from = performance.now();
  await victim.kill('SIGSTOP');
  const again = await oracle.nextStored(from + ON_ITS_WAY_MS);
  await engine.hasLeaders();
  await victim.kill('SIGCONT');
  await engine.isCaughtUp();
  const to = performance.now();
  disturb({ from: arrangedAt, to: to + QUIET_MS });
  return {
    led: isLeader ? EVENT_STREAM_NAMES[0] : 'nothing',
    servedAgainMs: Math.round(again.endedAt - from),
    gapMs: longestGapMs(oracle.attempts, { from, to }),
  };
}

/** The victim leads one stream or none, never both: then no leader would be left to serve. */
async function arrangeLeaders({ cluster, engine }: Scene, victim: NatsNode, isLeader: boolean): Promise<void> {
  await engine.isCaughtUp();
  const [bystander] = cluster.nodes.filter((node) => node !== victim);
  if (bystander === undefined) throw new Error('a cluster has more than one server');
  const wanted = EVENT_STREAM_NAMES.map((stream, i): [string, NatsNode] => [
    stream,
    isLeader && i === 0 ? victim : bystander,
  ]);
  const leaders = await engine.leaders();
  for (const [stream, node] of wanted) if (leaders.get(stream) !== node) await engine.moveLeader(stream, node);
}

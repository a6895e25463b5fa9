import { setTimeout as sleep } from 'node:timers/promises';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { openRecorderScene, type RecorderScene } from '../deliver/open-recorder-scene.ts';
import { viewEngine } from '../engine-view.ts';
import { joinFindings } from '../join-findings.ts';
import { EVENT_STREAM_NAMES } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { followSchedule } from '../schedule.ts';
import { waitUntil } from '../wait-until.ts';
import { countInFlight } from './kill-deliver.ts';
import { finishExactly } from './stop-recorder.ts';

const STREAMS = 3;
const EVERY_MS = 10_000;
const DOWN_MS = 2_000;
/** Processes learn of a new leader a little later than we do. */
const AFTERMATH_MS = 1_000;
const LEADERS_WITHIN_MS = 60_000;

/**
 * Three NATS servers, three streams of outcomes: the server that leads one of them dies under load, and is back two seconds later. Deliver
 * stores outcomes elsewhere meanwhile, some of them twice, and the record equals the receivers all the same.
 */
export async function killOutcomesLeaders(run: FaultRun): Promise<Findings> {
  await using whole = await openRecorderScene(run, { nodes: 3, outcomeStreams: STREAMS });
  const load = whole.scene.load({ batchesPerSecond: run.isFull ? 50 : 20, sizes: [5, 5] });
  const strikes: Strike[] = [];
  const rounds = run.isFull ? 2 * STREAMS : 1;
  const atMs = Array.from({ length: rounds }, (_, round) => 1_000 + round * EVERY_MS);
  await followSchedule({ atMs, lengthMs: run.isFull ? rounds * EVERY_MS : 5_000 }, async () => {
    const stream = whole.outcomes[(strikes.length + run.seed) % STREAMS] ?? '';
    strikes.push(await strikeLeader(whole, stream));
    run.say(`killed: ${JSON.stringify(strikes.at(-1))}`);
  });
  const found = await finishExactly(whole, load, strikes);
  return joinFindings({ figures: { kills: strikes.length } }, found);
}

async function strikeLeader({ scene, outcomes }: RecorderScene, stream: string): Promise<Strike> {
  const engine = viewEngine(scene.cluster, [...EVENT_STREAM_NAMES, ...outcomes]);
  const victim = (await engine.leaders()).get(stream);
  if (victim === undefined) throw new Error(`${stream} has no leader`);
  const atKill = await countInFlight(scene, performance.now());
  const from = performance.now();
  await victim.kill('SIGKILL');
  await sleep(DOWN_MS);
  await victim.start();
  // A consumer has a leader of its own, often later than its stream: until then acknowledgements are lost.
  await waitUntil('streams and consumers have leaders', LEADERS_WITHIN_MS, async () => {
    return (await engine.leftovers()).isWhole && (await scene.engine.leftovers()).isWhole;
  });
  await sleep(AFTERMATH_MS);
  const until = performance.now();
  const inFlight = Math.max(atKill, await countInFlight(scene, until));
  return { what: `kill of the leader of ${stream}`, from, until, inFlight };
}

import { connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { readOutcomes } from '../deliver/ask-engine.ts';
import { openRecorderScene, type RecorderScene } from '../deliver/open-recorder-scene.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { ServerProcess } from '../server-process.ts';
import { SILENT } from '../sources.ts';
import { spend, waitUntil } from '../wait-until.ts';
import { finishExactly } from './stop-recorder.ts';

const STREAMS = 2;
const WARM_UP_MS = 1_500;
/** Of the consumer of outcomes. */
const ACK_WAIT_MS = 7_000;
const CAUGHT_UP_WITHIN_MS = 60_000;
/** Both of them write again before the end. */
const TOGETHER_MS = 2_000;

/**
 * Two processes record from two streams. One dies, with batches that it holds and has not acknowledged, and is away for long. The other
 * one records what both streams get, alone; then the first comes back, and the record equals the receivers.
 */
export function killOneRecorder(run: FaultRun): Promise<Findings> {
  return strikeOneRecorder(run, run.isFull ? 600_000 : 6_000, {
    begin: (victim) => victim.kill('SIGKILL'),
    end: (victim) => victim.start(),
  });
}

/**
 * The same, and it does not die: it stands still for longer than the ack wait of its batches, which NATS gives to the other one. Awake, it
 * writes what it held, a second time.
 */
export function suspendOneRecorder(run: FaultRun): Promise<Findings> {
  return strikeOneRecorder(run, run.isFull ? 60_000 : ACK_WAIT_MS + 1_000, {
    begin: async (victim) => victim.suspend(),
    end: async (victim) => victim.resume(),
  });
}

type StrikeAt = Record<'begin' | 'end', (victim: ServerProcess) => Promise<unknown>>;

async function strikeOneRecorder(run: FaultRun, awayMs: number, strike: StrikeAt): Promise<Findings> {
  await using whole = await openRecorderScene(run, { outcomeStreams: STREAMS, recorders: 2 });
  const load = whole.scene.load({ batchesPerSecond: run.isFull ? 50 : 20, sizes: [5, 5] });
  await spend(WARM_UP_MS);
  const victim = (run.seed % 2 === 0 ? whole.second : undefined) ?? whole.control;
  await strike.begin(victim);
  const { from, to } = await spend(awayMs);
  const { waiting, caughtUpMs } = await othersCatchUp(whole);
  const figures = { awayMs: Math.round(to - from), waitingBatches: waiting, caughtUpMs };
  run.say(`recorded by the other one: ${JSON.stringify(figures)}`);
  await strike.end(victim);
  await spend(TOGETHER_MS);
  return joinFindings({ figures }, await finishExactly(whole, load));
}

/** Resolves when everything is recorded that is in the streams now, while the one that died is still away. */
async function othersCatchUp({ scene, outcomes }: RecorderScene) {
  await using connection = await connectNats({ url: scene.cluster.adminUrl, name: 'faults', log: SILENT });
  const read = () => Promise.all(outcomes.map((stream) => readOutcomes(connection, stream)));
  const startedAt = performance.now();
  const before = await read();
  await waitUntil('the other recorder has caught up', CAUGHT_UP_WITHIN_MS, async () => {
    const now = await read();
    return now.every(({ first_seq }, index) => first_seq > (before[index]?.last_seq ?? 0));
  });
  const waiting = before.reduce((sum, { messages }) => sum + messages, 0);
  return { waiting, caughtUpMs: Math.round(performance.now() - startedAt) };
}

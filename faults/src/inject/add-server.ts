import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { type SurveyedStream, surveyStreams } from '../../../server/src/stream/prepare/survey.ts';
import { openRecorderScene } from '../deliver/open-recorder-scene.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';
import { spend, waitUntil } from '../wait-until.ts';
import { finishExactly } from './stop-recorder.ts';

const QUIET_MS = 3_000;
const LOOK_MS = 500;
const FULL_MS = 60_000;
const GROWN_WITHIN_MS = 120_000;
/** Three servers of one size and a fourth one are a third more; a stream is a whole, so not all of it can be used. */
const LEAST_GAIN = 1.15;

/**
 * A server joins a cluster of three under load. Without a restart of any process there is more room for events, the server holds and leads
 * event streams, requests are stored in new streams, and nothing is lost, repeated or missing in the record.
 */
export async function addServer(run: FaultRun): Promise<Findings> {
  await using whole = await openRecorderScene(run, { nodes: 3 });
  const { scene } = whole;
  await using connection = await connectNats({ url: scene.cluster.adminUrl, name: 'faults', log: SILENT });
  const manager = await jetstreamManager(connection.nc, { timeout: 10_000 });
  const load = scene.load({ batchesPerSecond: run.isFull ? 50 : 10, sizes: [5, 5] });
  await spend(QUIET_MS);
  const before = await eventsIn(manager);
  const from = performance.now();
  const added = await scene.cluster.addNode({ maxFileStoreMb: 20_480 });
  let after = before;
  const becomes = (what: string, isTrue: () => boolean) =>
    waitUntil(what, GROWN_WITHIN_MS, async () => {
      await spend(LOOK_MS);
      after = await eventsIn(manager);
      return isTrue();
    });
  await becomes('there is more room', () => roomOf(after) > roomOf(before) * LEAST_GAIN);
  const roomMs = Math.round(performance.now() - from);
  run.say(`more room after ${roomMs} ms: ${after.length} event streams instead of ${before.length}`);
  await becomes('every event stream is in use', () => after.every(({ usedBytes }) => usedBytes > 0));
  await becomes('the new server leads', () => after.some(({ leader }) => leader === added.name));
  const until = performance.now();
  await spend(run.isFull ? FULL_MS : QUIET_MS);
  whole.events = after.map(({ name }) => name);
  const found = await finishExactly(whole, load);
  const figures = {
    streams: [before.length, after.length],
    roomGain: Math.round((100 * roomOf(after)) / roomOf(before)) / 100,
    roomMs,
    inUseMs: Math.round(until - from),
    ledByNew: after.filter(({ leader }) => leader === added.name).length,
  };
  return joinFindings({ figures }, found);
}

async function eventsIn(manager: JetStreamManager): Promise<SurveyedStream[]> {
  const { streams } = await surveyStreams(manager, []);
  return streams.filter(({ name }) => name.startsWith('EVENTS-'));
}

function roomOf(streams: readonly SurveyedStream[]): number {
  return streams.reduce((all, { maxBytes }) => all + maxBytes, 0);
}

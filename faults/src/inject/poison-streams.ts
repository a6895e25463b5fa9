import { loadavg } from 'node:os';
import { hashOf } from '../../../server/src/stream/layout/lane-places.ts';
import { openInspector } from '../../../server/testing/inspector.ts';
import { eventSubject, laneSubject, ticketDueSubject } from '../../../server/src/stream/layout/layout.ts';
import { NOISY } from '../deliver/judge-latency.ts';
import { openRecorderScene, type RecorderScene } from '../deliver/open-recorder-scene.ts';
import { watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';
import { spend, waitUntil } from '../wait-until.ts';
import { finishExactly } from './stop-recorder.ts';

const WARM_UP_MS = 1_500;
const QUIET_MS = 3_000;
const KEPT_WITHIN_MS = 60_000;
const LANE_STREAMS = 2;

type Inspector = Awaited<ReturnType<typeof openInspector>>;
type Poison = { kind: string; subject: string; text: string; headers?: Record<string, string> };

/** Unreadable messages come into every stream while clients send: all of them end in quarantine, and other traffic goes on. */
export async function poisonStreams(run: FaultRun): Promise<Findings> {
  await using whole = await openRecorderScene(run);
  await using inspector = await openInspector(whole.scene.cluster.adminUrl, SILENT);
  const { scene, control, entered } = whole;
  const load = scene.load({ batchesPerSecond: 20, sizes: [5, 5] });
  const healthy = watchHealthy(scene, entered.plan.destinations);
  await spend(WARM_UP_MS);
  const quiet = await spend(QUIET_MS);
  const pid = scene.collect.pid();
  const from = performance.now();
  const poison = allPoison(whole, run.isFull ? 100 : 5);
  for (const { subject, text, headers } of poison) await inspector.publish(subject, text, headers);
  // A due ticket makes a deliver process drain the lane.
  for (const id of entered.destinations.keys()) await inspector.publish(ticketDueSubject(id), '');
  // Control compares the bucket with the rows when it starts, and reads dead letters when it is asked for them.
  await control.kill('SIGTERM');
  const client = whole.clientAt(await control.start());
  await client.ask('GET', '/api/v1/dead-letters');
  const wanted = Map.groupBy(poison, ({ kind }) => kind);
  const missing = async () => missingFrom(inspector, wanted);
  const isKept = async () => (await missing()) === '';
  const keptMs = await waitUntil('all poison is in quarantine', KEPT_WITHIN_MS, isKept).catch(() => KEPT_WITHIN_MS);
  const during = { from, to: performance.now() };
  const exact = await finishExactly(whole, load);
  const failures = scene.collect.pid() === pid && isAlive(pid) ? [] : ['the process that delivers died'];
  const { status } = await client.ask('GET', '/api/v1/quarantine');
  if (status !== 200) failures.push(`the operator was answered ${status} when asking for the quarantine`);
  const figures = { poisoned: poison.length, keptMs: Math.round(keptMs), loadAverage: loadavg()[0] };
  const left = await missing();
  if (left !== '') failures.push(`quarantine does not hold what was poisoned: ${left}`);
  return joinFindings(healthy.compare('poisoned', { quiet, during }, NOISY), exact, { failures, figures });
}

/** `count` of each, spread over the sources and destinations of the plan. */
function allPoison({ entered }: RecorderScene, count: number): Poison[] {
  const sources = [...entered.sources.keys()];
  const destinations = [...entered.destinations.keys()];
  return Array.from({ length: count }, (_, nth) => {
    const sourceId = sources[nth % sources.length] ?? '';
    const destinationId = destinations[nth % destinations.length] ?? '';
    return poisonOf({ sourceId, destinationId, nth });
  }).flat();
}

/** The text differs from one to the next: the same poison from the same place is one entry. */
function poisonOf({
  sourceId,
  destinationId,
  nth,
}: {
  sourceId: string;
  destinationId: string;
  nth: number;
}): Poison[] {
  const events = eventSubject(nth % 2, sourceId);
  const lane = laneSubject(hashOf(destinationId) % LANE_STREAMS, destinationId, 0);
  const envelope = { shape: 'batch', receivedAt: new Date().toISOString(), requestId: `poison-${nth}` };
  const headers = { 'Millrace-Request': JSON.stringify(envelope) };
  return [
    { kind: 'request', subject: events, text: `not json ${nth}`, headers },
    { kind: 'request', subject: events, text: '{"batch":[]}', headers: { 'Millrace-Request': `odd ${nth}` } },
    { kind: 'request', subject: events, text: `{"batch":[{"type":"odd","nth":${nth}}]}`, headers },
    { kind: 'lane', subject: lane, text: `not json ${nth}` },
    { kind: 'lane', subject: lane, text: `{"nth":${nth}}` },
    { kind: 'lane', subject: lane, text: `[{"id":${nth}}]` },
    // One each: a newer ticket takes the place of an older one.
    { kind: 'ticket', subject: ticketDueSubject(`dst_odd${nth}`), text: `not json ${nth}` },
    { kind: 'outcome', subject: 'outcomes.0', text: `not json ${nth}` },
    { kind: 'outcome', subject: 'outcomes.0', text: `{"entries":[{"kind":"odd","nth":${nth}}]}` },
    { kind: 'letter', subject: `dead.${destinationId}`, text: `not json ${nth}` },
    { kind: 'config', subject: `$KV.config.destination.dst_odd${nth}`, text: `not json ${nth}` },
    { kind: 'health', subject: `$KV.health.dst_odd${nth}`, text: `not json ${nth}` },
  ];
}

/** In words, how quarantine differs from what it should hold; empty when it does not. */
async function missingFrom({ quarantine }: Inspector, wanted: ReadonlyMap<string, Poison[]>): Promise<string> {
  const counts = new Map<string, number>(await quarantine.counts());
  const differing = [...wanted].filter(([kind, all]) => counts.get(kind) !== all.length);
  return differing.map(([kind, all]) => `${counts.get(kind) ?? 0} of ${all.length} ${kind}`).join(', ');
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

import { loadavg } from 'node:os';
import { joinFindings } from '../join-findings.ts';
import { percentileMs, type Timed } from '../measure-attempts.ts';
import type { Oracle } from '../oracle.ts';
import { readStored } from '../read-stored.ts';
import type { Findings } from '../run-fault.ts';
import type { Load } from '../start-load.ts';
import { judgeDeliveries, type Strike } from './judge-deliveries.ts';
import type { DeliverScene } from './open-deliver-scene.ts';
import { judgeRecord } from './judge-record.ts';
import type { Arrival } from './read-arrival.ts';
import { readRecord } from './read-record.ts';

const DRAINED_WITHIN_MS = 120_000;

/** Lets the load end and everything drain, then holds what clients were told against what arrived. */
export async function finishDeliveries(scene: DeliverScene, load: Load, strikes: readonly Strike[]): Promise<Findings> {
  const { oracle, arrivals } = scene;
  await load.stop();
  await scene.receivers.restDice();
  const stuck: string[] = [];
  const drainedMs = await scene.drained(DRAINED_WITHIN_MS).catch((error: unknown) => {
    stuck.push(`not drained within ${DRAINED_WITHIN_MS} ms: ${error instanceof Error ? error.message : String(error)}`);
    return DRAINED_WITHIN_MS;
  });
  const { verdict } = await judgeDrained(scene, strikes);
  const record = judgeRecord(await readRecord(scene), arrivals);
  stuck.push(...unansweredProblems(oracle));
  const latencies = latenciesOf(oracle, arrivals);
  const figures = {
    injected500s: arrivals.filter(({ status }) => status === 500).length,
    p50Ms: percentileMs(latencies, 0.5),
    p99Ms: percentileMs(latencies, 0.99),
    maxMs: percentileMs(latencies, 1),
    drainedMs: Math.round(drainedMs),
    loadAverage: loadavg()[0],
  };
  return joinFindings({ failures: stuck, figures: { postgres: 'absent' } }, verdict, record, { figures });
}

/** Holds what clients were told against what arrived, when nothing is under way any more, and keeps the evidence. */
export async function judgeDrained(scene: DeliverScene, strikes: readonly Strike[]) {
  const { oracle, arrivals, plan } = scene;
  await scene.receivers.heard();
  const storedAgain = await countStoredAgain(scene);
  const verdict = judgeDeliveries({ ...oracle, ...plan, arrivals, strikes, storedAgain });
  scene.keepEvidence(verdict);
  return { verdict, storedAgain };
}

/** Clients send a call again until it is stored. */
export function unansweredProblems({ calls }: Pick<Oracle, 'calls'>): string[] {
  const unanswered = [...calls.values()].filter(({ answered }) => answered === undefined).length;
  return unanswered === 0 ? [] : [`${unanswered} calls were still not answered 200 at the end`];
}

/** From the 200 that the client got to the first arrival at the receiver. An arrival can be faster than the answer. */
export function latenciesOf({ calls }: Pick<Oracle, 'calls'>, arrivals: readonly Arrival[]): Timed[] {
  const seen = new Set<string>();
  const latencies: Timed[] = [];
  for (const { messageId, destinationId, at } of arrivals) {
    const answeredAt = calls.get(messageId)?.answered?.endedAt;
    const delivery = `${messageId} ${destinationId}`;
    if (answeredAt === undefined || seen.has(delivery)) continue;
    seen.add(delivery);
    latencies.push({ startedAt: answeredAt, endedAt: Math.max(answeredAt, at) });
  }
  return latencies;
}

/** A request that moved to the other stream while a leader was missing may be in both: collect promises no more. */
export async function countStoredAgain({ settings }: Pick<DeliverScene, 'settings'>): Promise<Map<string, number>> {
  const byId = Map.groupBy(await readStored(settings), (event) => event.messageId);
  const again = [...byId].map(([id, copies]) => [id, copies.length - 1] as const);
  return new Map(again.filter(([, count]) => count > 0));
}

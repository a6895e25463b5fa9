import { setTimeout as sleep } from 'node:timers/promises';
import type { Span, Timed } from '../measure-attempts.ts';
import type { Findings } from '../run-fault.ts';
import { countStoredAgain, latenciesOf } from './finish-deliveries.ts';
import { judgeDeliveries } from './judge-deliveries.ts';
import { judgeLatency, type LatencyBound, startedIn } from './judge-latency.ts';
import type { DeliverScene } from './open-deliver-scene.ts';
import type { PlannedDestination } from './plan-workspaces.ts';

/** Destinations that have nothing to do with the trouble of others, and what they notice of it. */
export type Healthy = {
  latencies(span: Span): Timed[];
  /** Holds a time of trouble against a quiet one. */
  compare(name: string, spans: { quiet: Span; during: Span }, bound: LatencyBound): Findings;
  /** Nothing for them may be lost, changed or delivered twice. The load must have ended. */
  judge(): Promise<Findings>;
};

/** For what is under way when the load ends. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 500;

export function watchHealthy(scene: DeliverScene, destinations: readonly PlannedDestination[]): Healthy {
  const ids = new Set(destinations.map(({ id }) => id));
  const arrivals = () => scene.arrivals.filter(({ destinationId }) => ids.has(destinationId));
  const latencies = (span: Span) => startedIn(latenciesOf(scene.oracle, arrivals()), span);
  return {
    latencies,
    compare(name, { quiet, during }, bound) {
      const machineLateMs = scene.machine.lateP99Ms(during);
      return judgeLatency({ name, quiet: latencies(quiet), during: latencies(during), bound, machineLateMs });
    },
    async judge() {
      const evidence = { ...scene.oracle, destinations, strikes: [] };
      const judgeNow = (storedAgain = new Map<string, number>()) =>
        judgeDeliveries({ ...evidence, arrivals: arrivals(), storedAgain });
      const giveUpAt = performance.now() + PATIENCE_MS;
      let verdict = judgeNow();
      while (verdict.failures.length > 0 && performance.now() < giveUpAt) {
        await sleep(LOOK_MS);
        await scene.receivers.heard();
        verdict = judgeNow();
      }
      // A machine too busy to answer within a second makes collect move requests to the other stream, as a lost leader does.
      if (verdict.repeats.length > 0) verdict = judgeNow(await countStoredAgain(scene));
      scene.keepEvidence(verdict);
      return verdict;
    },
  };
}

/** Bytes a second between the parts, in the busiest minutes, over all cells. */
import { figure } from '../sizing/figures.ts';
import { laneBytesOf, OUTCOME_BYTES, postBytesOf, recordedBytesOf, storedBytesOf } from '../sizing/measured-costs.ts';
import type { ScaleLoad } from './scale-load.ts';

export type Traffic = {
  /** From clients, before compression. */
  inBytes: number;
  /** To receivers. */
  outBytes: number;
  /** Between our own machines. */
  insideBytes: number;
  /** The part of it that crosses zones. */
  zoneBytes: number;
  /** Synced to the disk of each NATS server of a cell. */
  natsDiskBytes: number;
};

export function trafficOf(load: ScaleLoad, cells: number): Traffic {
  const { eventsPerSecond, callsPerRequest, destinationsPerEvent, eventsPerPost, eventBytes, replicas } = load;
  const requests = eventsPerSecond / callsPerRequest;
  const deliveries = eventsPerSecond * destinationsPerEvent;
  const stored =
    eventsPerSecond * storedBytesOf(load) +
    deliveries * OUTCOME_BYTES +
    deliveries * load.failingShare * laneBytesOf(load);
  // Written to the leader, read from it once, and copied to each replica.
  const copied = stored * (replicas - 1);
  const hops = stored * 2 + eventsPerSecond * recordedBytesOf(load);
  return {
    inBytes: eventsPerSecond * eventBytes + requests * figure('bytes.http-in'),
    outBytes: (deliveries / eventsPerPost) * postBytesOf(load, true),
    insideBytes: hops + copied,
    // Replicas are in a zone each.
    zoneBytes: hops * figure('plan.zones') + copied,
    natsDiskBytes: stored / cells,
  };
}

import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import type { PulledRequest } from '../../stream/events/requests.ts';
import type { Requests } from './deliver-requests.ts';

export type MeetNeeds = {
  settings: { cell?: string; retryScale: number };
  config: Pick<DeliverConfig, 'placeOf'>;
  requests: Pick<Requests, 'take' | 'keep'>;
  metrics: Metrics;
  log: Logger;
};

/** By the usual schedule. NATS hands out no more than a number of unacknowledged requests, so those that wait must come to an end. */
const PATIENCE_MS = 3_600_000;

const WHY = {
  behind: 'the entry of its source did not name this cell for an hour',
  unknown: 'its source was not known in this cell for an hour',
};

/**
 * Takes a pulled request up, or gives it back because it came before its configuration. Collect reads another bucket than deliver in this cell:
 * with a new spare, or a new bucket, it may know before this process that requests go here. Taken up now, they would find no destination.
 * A request whose configuration does not come goes to quarantine, where people can put it back to work.
 */
export function meetRequests({
  settings,
  config,
  requests,
  metrics,
  log,
}: MeetNeeds): (request: PulledRequest) => void {
  const { cell, retryScale } = settings;
  if (cell === undefined) return requests.take;
  const postponed = metrics.counter('millrace_requests_postponed_total');
  return (request) => {
    const { sourceId, place: at } = request;
    const place = config.placeOf(sourceId, cell);
    if (place === 'here') return requests.take(request);
    if (request.postpone?.(PATIENCE_MS / retryScale) === true) return postponed.add();
    log.error({ sourceId, place: at, why: WHY[place] }, 'request.of_no_source');
    requests.keep(request, WHY[place]);
  };
}

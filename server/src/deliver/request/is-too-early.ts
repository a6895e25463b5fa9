import type { Logger } from '../../log.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import type { PulledRequest } from '../../stream/events/requests.ts';

export type EarlyNeeds = {
  settings: { cell?: string };
  config: Pick<DeliverConfig, 'placeOf'>;
  log: Logger;
};

/** A source that no entry tells of for so long was deleted, and the mark of its deletion is gone. */
const UNKNOWN_FOR_MS = 3_600_000;

/**
 * Whether the request came before its configuration, and was given back. Collect reads another bucket than deliver in this cell: after a
 * move, or with a new source, it may know before this process that requests go here. Taken up now, they would find no destination.
 */
export function isTooEarly(request: PulledRequest, { settings: { cell }, config, log }: EarlyNeeds): boolean {
  if (cell === undefined) return false;
  const place = config.placeOf(request.sourceId, cell);
  if (place === 'here') return false;
  const isGivenBack = request.postpone?.(place === 'unknown' ? UNKNOWN_FOR_MS : Infinity) === true;
  if (!isGivenBack) log.warn({ sourceId: request.sourceId, place: request.place }, 'request.of_no_source');
  return isGivenBack;
}

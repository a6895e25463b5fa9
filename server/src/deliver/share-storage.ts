/** Keeps each destination and each workspace within its share of the streams that all of them use. */
import type { DeadLetters } from '../stream/deliveries/dead-letters.ts';
import type { Lanes } from '../stream/deliveries/lanes.ts';
import { DEAD_STREAM } from '../stream/layout/layout.ts';
import type { Shares } from '../stream/deliveries/shares.ts';
import type { LimitValues } from '../limits/limits.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { DeliverConfig } from '../stream/config/config-bucket.ts';
import type { SharesOf } from '../stream/open-delivery-side.ts';
import type { LaneReports } from './lane/lane-reports.ts';
import type { ParkerNeeds } from './settle/park.ts';

type LimitedBytes = 'laneBytes' | 'deadLetterBytes';
type LimitsNeeds = { config: DeliverConfig; settings: { limits?: Pick<LimitValues, LimitedBytes> }; metrics: Metrics };

/** Whose things the shares are about, and how much a workspace may have of them whatever is free. */
export function sharesOf(name: LimitedBytes, { config, settings, metrics }: LimitsNeeds): SharesOf {
  const refused = metrics.counters('millrace_limit_refusals_total')(name);
  const standard = settings.limits?.[name];
  return {
    workspaceOf: (id) => config.destination(id)?.workspaceId,
    mostOf: (workspaceId) => config.limits().get(workspaceId)?.[name] ?? standard,
    leastMost: () =>
      Math.min(
        standard ?? Infinity,
        ...config
          .limits()
          .values()
          .map((own) => own[name] ?? Infinity),
      ),
    refused: () => refused.add(),
  };
}

type LaneShareNeeds = {
  lanes: Pick<Lanes, 'append' | 'streamOf'>;
  shares: Pick<Shares, 'isOver' | 'storing'>;
  reports: Pick<LaneReports, 'isOverQuota' | 'appended'>;
};

/**
 * Appends to lanes within the shares. The holder of a lane puts back deliveries that were counted already: those are refused only
 * when the lane is over a quota of the settings.
 */
export function writeWithinShare({ lanes, shares, reports }: LaneShareNeeds): ParkerNeeds['write'] {
  return async (place, { id, payload, isByHolder }) => {
    const { destinationId } = place;
    const stream = lanes.streamOf(destinationId);
    if (reports.isOverQuota(destinationId)) return 'full';
    if (!isByHolder && shares.isOver(stream, destinationId)) return 'full';
    const bytes = payload.length;
    const answer = await shares.storing({ stream, destinationId, bytes }, () => lanes.append(place, payload, id));
    if (answer === 'stored') reports.appended(destinationId, bytes);
    return answer;
  };
}

/** Refuses a letter over the share. Stored letters stay: the docs promise that. */
export function shareDeadLetters(letters: DeadLetters, shares: Pick<Shares, 'isOver' | 'storing'>): DeadLetters {
  return {
    async append(destinationId, id, payload) {
      if (shares.isOver(DEAD_STREAM, destinationId)) return 'full';
      const letter = { stream: DEAD_STREAM, destinationId, bytes: Buffer.byteLength(payload) };
      return shares.storing(letter, () => letters.append(destinationId, id, payload));
    },
  };
}

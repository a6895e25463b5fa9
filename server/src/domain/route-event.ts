import {
  type AcceptedEvent,
  brokenRule,
  type CallType,
  FILTER_OPS,
  type FilterRule,
  selectsDestination,
} from '@millrace/contract';
import type { SkipReason } from '@millrace/contract/help';
import type { DestinationConfig } from './configuration.ts';
import type { Withheld } from './withheld.ts';

export type { SkipReason };

export type Routed =
  | { kind: 'delivery'; destination: DestinationConfig }
  /** A newer process has to decide: the delivery waits in its lane. */
  | { kind: 'undecided'; destination: DestinationConfig; why: string }
  /** `rule` is the first one that the event breaks, when the reason is `filtered`. */
  | { kind: 'skip'; destination: DestinationConfig; reason: SkipReason; rule?: FilterRule };

export type Routing = {
  destinations: readonly DestinationConfig[];
  /** Whether the event's user was erased or is suppressed. */
  withheld?(event: AcceptedEvent): Withheld | undefined;
  /** Whether the source's schema keeps this track event from all destinations. */
  isBlocked(event: string): boolean;
  /** The call types that a kind of destination takes, by its name in the catalog; undefined for an unknown name. */
  accepts(catalog: string): readonly (CallType | 'delete')[] | undefined;
};

/** For each destination of the event's source: whether it gets the event, and if not, the first reason why. */
export function routeEvent(event: AcceptedEvent, routing: Routing): Routed[] {
  if (routing.destinations.length === 0) return [];
  const kept = routing.withheld?.(event);
  return routing.destinations.map((destination) => {
    const reason = kept ?? skipReason(event, destination, routing);
    if (reason !== undefined) return { kind: 'skip', destination, reason };
    const why = whyNotUnderstood(destination, routing.accepts);
    if (why !== undefined) return { kind: 'undecided', destination, why };
    // Most destinations have no filters, and then pay nothing for them.
    const rule = destination.filters && brokenRule(event, destination.filters);
    return rule === undefined
      ? { kind: 'delivery', destination }
      : { kind: 'skip', destination, reason: 'filtered', rule };
  });
}

/** The order is part of the promise: it decides which reason people are shown. The filters come last. */
function skipReason(
  event: AcceptedEvent,
  destination: DestinationConfig,
  { isBlocked, accepts }: Routing,
): SkipReason | undefined {
  if (destination.notUnderstood !== undefined) return undefined;
  if (!destination.enabled) return 'destination_disabled';
  if (!selectsDestination(event.integrations, destination.catalog)) return 'integrations_map';
  if (event.type === 'track' && isBlocked(event.event)) return 'blocked_event';
  if (accepts(destination.catalog)?.includes(event.type) === false) return 'type_not_accepted';
  return undefined;
}

const KNOWN_OPS = new Set<string>(FILTER_OPS);

/** Why a destination was made by a newer version than this process is; undefined for one that this process can act on. */
export function whyNotUnderstood(
  { catalog, filters, notUnderstood }: DestinationConfig,
  accepts: Routing['accepts'],
): string | undefined {
  if (notUnderstood !== undefined) return notUnderstood;
  if (accepts(catalog) === undefined) return `${catalog} is not in the catalog`;
  const rule = filters?.find(({ op }) => !KNOWN_OPS.has(op));
  return rule && `its filters have the operator ${rule.op}, which is not known`;
}

import type { DestinationConfig } from '../../domain/configuration.ts';
import type { ComputedRoute } from '../../domain/read-request.ts';
import type { Routing } from '../../domain/route-event.ts';
import { withheld } from '../../domain/withheld.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import { accepts } from './webhook.ts';

/** How events of a source are routed by the configuration of now; computed ones only to the destinations that they are for. */
export function routingOf(config: DeliverConfig, sourceId: string, computed?: ComputedRoute): Routing {
  const markOf = (userId: string) => config.userMark(sourceId, userId, computed?.workspaceId);
  return {
    destinations: computed === undefined ? config.destinationsOf(sourceId) : destinationsFor(config, computed),
    isBlocked: (name) => config.isEventBlocked(sourceId, name),
    accepts,
    withheld: (event) => withheld(event, markOf),
  };
}

/** Those that still exist. The workspace is compared once more: no request may reach the destination of another one. */
function destinationsFor(config: DeliverConfig, { workspaceId, destinations }: ComputedRoute): DestinationConfig[] {
  return destinations.flatMap((id) => {
    const destination = config.destination(id);
    return destination !== undefined && isOf(destination, workspaceId) ? [destination] : [];
  });
}

/** An entry that is unreadable may not even name its workspace: its deliveries wait in the lane for one that can be read. */
function isOf(destination: DestinationConfig, workspaceId: string): boolean {
  const isUnknown = destination.workspaceId === '' && destination.notUnderstood !== undefined;
  return destination.workspaceId === workspaceId || isUnknown;
}

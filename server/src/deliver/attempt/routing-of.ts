import type { Routing } from '../../domain/route-event.ts';
import { withheld } from '../../domain/withheld.ts';
import type { ConfigView } from '../../stream/config/config-bucket.ts';
import { accepts } from './webhook.ts';

/** How events of a source are routed by the configuration of now. */
export function routingOf(config: ConfigView, sourceId: string): Routing {
  const markOf = (userId: string) => config.userMark(sourceId, userId);
  return {
    destinations: config.destinationsOf(sourceId),
    isBlocked: (name) => config.isEventBlocked(sourceId, name),
    accepts,
    withheld: (event) => withheld(event, markOf),
  };
}

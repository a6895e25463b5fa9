import type { Delivery as DeliverySchema, Destination, Overview, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { type Page, reading } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import type { Started } from './get-started.ts';

const WATCH_MS = 5_000;
const key = (workspaceId: string) => `millrace-started-${workspaceId}`;

/** How far a new workspace has come; undefined once it has come all the way, in this browser for good. */
export function useStarted(overview: Overview | undefined): Started | undefined {
  const { workspace } = useSession();
  const wasDone = localStorage.getItem(key(workspace.id)) === 'yes';
  const asks = { query: { limit: 100 }, every: WATCH_MS, enabled: !wasDone };
  const sources = useQuery(reading<Page<Source>>('/sources', asks));
  const destinations = useQuery(reading<Page<Destination>>('/destinations', asks));
  const delivered = useQuery(
    reading<Page<Static<typeof DeliverySchema>>>('/deliveries', { ...asks, query: { state: 'delivered', limit: 1 } }),
  );
  if (wasDone || sources.data === undefined || destinations.data === undefined || delivered.data === undefined) {
    return undefined;
  }
  const hasCall = sources.data.items.some(({ writeKeys }) => writeKeys.some(({ lastUsedAt }) => lastUsedAt !== null));
  const hasDelivery = delivered.data.items.length > 0 || (overview?.tiles.delivered.delivered ?? 0) > 0;
  const started = {
    source: sources.data.items.length > 0,
    call: hasCall || hasDelivery || (overview?.tiles.callsPerMinute.now ?? 0) > 0,
    destination: destinations.data.items.length > 0,
    delivery: hasDelivery,
  };
  if (!Object.values(started).every(Boolean)) return started;
  localStorage.setItem(key(workspace.id), 'yes');
  return undefined;
}

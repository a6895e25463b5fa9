import type { Delivery, Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { askControl, currentWorkspace } from '../../api/ask-control.ts';
import type { Page } from '../../api/queries.ts';
import type { StoredPage } from '../events/stored-events.ts';
import { countDeliveries, destinationsTold, type Touched } from './touched.ts';

const MOST_PAGES = 5;
const MOST_SOURCES = 10;

export type Sought = { userId: string; sources: readonly string[]; destinations: readonly Destination[] };

/** Looks for the user in the stored events and in the record, when asked. */
export function useTouched({ userId, sources, destinations }: Sought) {
  return useQuery({
    queryKey: [currentWorkspace() ?? '', '/deliveries', 'touched', userId, sources],
    enabled: userId !== '',
    staleTime: 10_000,
    queryFn: async ({ signal }): Promise<Touched> => {
      const [stored, deliveries] = await Promise.all([
        countStored(userId, sources, signal),
        countRecorded(userId, sources, signal),
      ]);
      return { userId, stored, deliveries, ...destinationsTold(destinations, sources) };
    },
  });
}

async function countStored(
  userId: string,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Touched['stored']> {
  let count = 0;
  let isExact = sources.length <= MOST_SOURCES;
  for (const sourceId of sources.slice(0, MOST_SOURCES)) {
    const page = await askControl<StoredPage>('/stored-events', { query: { sourceId, userId, limit: 100 }, signal });
    count += page.items.length;
    isExact &&= page.isComplete;
  }
  return { count, isExact };
}

async function countRecorded(
  userId: string,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Touched['deliveries']> {
  const found: Delivery[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { userId, limit: 100, cursor };
    const { items, nextCursor } = await askControl<Page<Delivery>>('/deliveries', { query, signal });
    found.push(...items.filter(({ sourceId }) => sources.includes(sourceId)));
    if (nextCursor === null) return countDeliveries(found, true);
    cursor = nextCursor;
  }
  return countDeliveries(found, false);
}

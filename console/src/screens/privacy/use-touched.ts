import type { Delivery, Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { askControl, currentWorkspace } from '../../api/ask-control.ts';
import type { Page } from '../../api/queries.ts';
import type { StoredPage } from '../../parts/stored-events/stored-events.ts';
import { countDeliveries, type Touched } from './touched.ts';

const MOST_PAGES = 5;
const MOST_SOURCES = 10;

export type Sought = {
  userId: string;
  sources: readonly string[];
  /** Whether the request also means sources that the console has not read: then no count is exact. */
  hasMoreSources: boolean;
  destinations: readonly Destination[];
  hasMoreDestinations: boolean;
};

const keyOf = (what: string, { userId, sources, hasMoreSources }: Sought) => [
  currentWorkspace() ?? '',
  '/deliveries',
  what,
  userId,
  sources,
  hasMoreSources,
];

/** The record answers at once. */
export function useRecordedCount(sought: Sought) {
  return useQuery({
    queryKey: keyOf('recorded of a user', sought),
    enabled: sought.userId !== '',
    staleTime: 10_000,
    queryFn: ({ signal }) => countRecorded(sought, signal),
  });
}

/** A search through the stored events of every source takes some seconds. */
export function useStoredCount(sought: Sought) {
  return useQuery({
    queryKey: keyOf('stored of a user', sought),
    enabled: sought.userId !== '',
    staleTime: 60_000,
    queryFn: ({ signal }) => countStored(sought, signal),
  });
}

async function countStored(
  { userId, sources, hasMoreSources }: Sought,
  signal: AbortSignal,
): Promise<Touched['stored']> {
  let count = 0;
  let isExact = !hasMoreSources && sources.length <= MOST_SOURCES;
  for (const sourceId of sources.slice(0, MOST_SOURCES)) {
    const page = await askControl<StoredPage>('/stored-events', { query: { sourceId, userId, limit: 100 }, signal });
    count += page.items.length;
    isExact &&= page.isComplete;
  }
  return { count, isExact };
}

async function countRecorded(
  { userId, sources, hasMoreSources }: Sought,
  signal: AbortSignal,
): Promise<Touched['deliveries']> {
  const found: Delivery[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { userId, limit: 100, cursor };
    const { items, nextCursor } = await askControl<Page<Delivery>>('/deliveries', { query, signal });
    found.push(...items.filter(({ sourceId }) => sources.includes(sourceId)));
    if (nextCursor === null) return countDeliveries(found, !hasMoreSources);
    cursor = nextCursor;
  }
  return countDeliveries(found, false);
}

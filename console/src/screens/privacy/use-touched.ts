import type { Delivery, Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { askControl, currentWorkspace } from '../../api/ask-control.ts';
import type { Page } from '../../api/queries.ts';
import type { StoredPage } from '../../parts/stored-events/stored-events.ts';
import { countDeliveries, type Touched } from './touched.ts';

const MOST_PAGES = 5;
const MOST_SOURCES = 10;

export type Sought = { userId: string; sources: readonly string[]; destinations: readonly Destination[] };

const keyOf = (what: string, { userId, sources }: Sought) => [
  currentWorkspace() ?? '',
  '/deliveries',
  what,
  userId,
  sources,
];

/** The record answers at once. */
export function useRecordedCount(sought: Sought) {
  return useQuery({
    queryKey: keyOf('recorded of a user', sought),
    enabled: sought.userId !== '',
    staleTime: 10_000,
    queryFn: ({ signal }) => countRecorded(sought.userId, sought.sources, signal),
  });
}

/** A search through the stored events of every source takes some seconds. */
export function useStoredCount(sought: Sought) {
  return useQuery({
    queryKey: keyOf('stored of a user', sought),
    enabled: sought.userId !== '',
    staleTime: 60_000,
    queryFn: ({ signal }) => countStored(sought.userId, sought.sources, signal),
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

/** Finds the stored call of a messageId: in its source around the time it was received, or in every source. */
import { useQuery } from '@tanstack/react-query';
import { askControl, currentWorkspace } from '../../api/ask-control.ts';
import type { StoredEvent } from './rules.ts';

export type StoredItem = { storedAt: string; event: StoredEvent; sourceId: string };
type Found = { items: { storedAt: string; event: StoredEvent }[]; nextCursor: string | null; isComplete: boolean };

/** Received and stored are some milliseconds apart. */
const AROUND_MS = 2_000;
const MOST_PAGES = 4;
const MOST_SOURCES = 10;
const MOST_TEXT = 200;

export type Sought = { messageId: string; sourceIds: readonly string[]; receivedAt?: string | undefined };
export type StoredCall = { item: StoredItem | undefined; isComplete: boolean };

export function useStoredCall(sought: Sought | undefined) {
  return useQuery({
    queryKey: [currentWorkspace() ?? '', '/stored-events', 'one', sought ?? {}],
    queryFn: ({ signal }) => (sought === undefined ? undefined : look(sought, signal)),
    enabled: sought !== undefined && sought.sourceIds.length > 0,
    staleTime: 60_000,
  });
}

async function look(sought: Sought, signal: AbortSignal): Promise<StoredCall> {
  let isComplete = sought.sourceIds.length <= MOST_SOURCES;
  for (const sourceId of sought.sourceIds.slice(0, MOST_SOURCES)) {
    const found = await lookInSource(sourceId, sought, signal);
    if (found.item !== undefined) return found;
    isComplete &&= found.isComplete;
  }
  return { item: undefined, isComplete };
}

async function lookInSource(sourceId: string, sought: Sought, signal: AbortSignal): Promise<StoredCall> {
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const query = { sourceId, text: sought.messageId.slice(0, MOST_TEXT), limit: 10, ...around(sought), cursor };
    const page = await askControl<Found>('/stored-events', { query, signal });
    const item = page.items.find(({ event }) => event.messageId === sought.messageId);
    if (item !== undefined) return { item: { ...item, sourceId }, isComplete: true };
    if (page.nextCursor === null) return { item: undefined, isComplete: true };
    cursor = page.nextCursor;
  }
  return { item: undefined, isComplete: false };
}

function around({ receivedAt }: Sought): { from?: string; to?: string } {
  if (receivedAt === undefined) return {};
  const at = Date.parse(receivedAt);
  return { from: new Date(at - AROUND_MS).toISOString(), to: new Date(at + AROUND_MS).toISOString() };
}

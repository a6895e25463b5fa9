import type { Delivery } from '@millrace/contract/control';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { askControl, currentWorkspace } from '../../api/ask-control.ts';
import { type Page, readingPages } from '../../api/queries.ts';
import type { UrlSearch } from '../../parts/lists/url-filters.tsx';
import { filterOf, type Letter, type LetterFilter, withDeliveries } from './letters.ts';

const PAGE = 50;

/** Letters by pages, with the words of the record where it has them. */
export function useLetters(search: UrlSearch, now: number) {
  const filter = filterOf(search, now);
  const read = useInfiniteQuery(
    readingPages<Letter>('/dead-letters', { query: { ...filter, limit: PAGE }, every: 15_000 }),
  );
  const letters = read.data?.pages.flatMap(({ items }) => items) ?? [];
  const recorded = useRecorded(letters, search);
  const told = withDeliveries(letters, recorded.data ?? []);
  const errorClass = search.errorClass ?? '';
  const shown = errorClass === '' ? told : told.filter(({ delivery }) => delivery?.errorClass === errorClass);
  return { read, filter, told, shown, isTold: recorded.data !== undefined };
}

/** Letters come oldest first and deliveries newest first: each page of letters is looked up by its latest time. */
function useRecorded(letters: readonly Letter[], { destinationId }: UrlSearch) {
  const pages = pagesOf(letters);
  return useQuery({
    queryKey: [currentWorkspace() ?? '', '/deliveries', 'of letters', pages, destinationId ?? ''],
    enabled: letters.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const found: Delivery[] = [];
      for (const { to, states, destination } of pages)
        for (const state of states) {
          const query = { state, to, limit: 100, destinationId: destination };
          const { items } = await askControl<Page<Delivery>>('/deliveries', { query, signal });
          found.push(...items);
        }
      return found;
    },
  });
}

type RecordPage = { to: string; states: string[]; destination: string };

function pagesOf(letters: readonly Letter[]): RecordPage[] {
  const pages = new Map<string, RecordPage>();
  letters.forEach(({ destinationId, deadAt, reason }, place) => {
    const key = `${destinationId} ${Math.floor(place / PAGE)}`;
    const page = pages.get(key) ?? { to: deadAt, states: [], destination: destinationId };
    const state = reason === 'expired' ? 'expired' : 'discarded';
    if (!page.states.includes(state)) page.states.push(state);
    page.to = new Date(Math.max(Date.parse(page.to), Date.parse(deadAt) + 1_000)).toISOString();
    pages.set(key, page);
  });
  return [...pages.values()];
}

const MOST_PAGES = 20;
export type LetterCount = { count: number; isExact: boolean; first: Letter[] };

/** How many letters a redrive with this filter would take. */
export function useLetterCount(filter: LetterFilter, isAsked: boolean) {
  return useQuery({
    queryKey: [currentWorkspace() ?? '', '/dead-letters', 'count', filter],
    enabled: isAsked,
    staleTime: 0,
    queryFn: ({ signal }) => countLetters(filter, signal),
  });
}

async function countLetters(filter: LetterFilter, signal: AbortSignal): Promise<LetterCount> {
  let cursor: string | undefined;
  let count = 0;
  const first: Letter[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { ...filter, limit: 100, cursor };
    const { items, nextCursor } = await askControl<Page<Letter>>('/dead-letters', { query, signal });
    count += items.length;
    first.push(...items.slice(0, 5 - first.length));
    if (nextCursor === null) return { count, isExact: true, first };
    cursor = nextCursor;
  }
  return { count, isExact: false, first };
}

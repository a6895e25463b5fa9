import type { Source } from '@millrace/contract/control';
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { collected } from '../../format/collected.ts';
import { type Page, reading, readingPages } from '../../api/queries.ts';
import { type DestinationOf, type RefusalsOf, sourceRows, type UsageOf } from './source-rows.ts';

const SLOWLY_MS = 30_000;

/** The sources are the list; the columns of other endpoints fill in as their answers come. */
export function useSourceRows() {
  const pages = useInfiniteQuery(readingPages<Source>('/sources', { every: 10_000 }));
  const sources = collected(pages.data?.pages.flatMap(({ items }) => items) ?? []);
  const usage = useQuery(reading<UsageOf>('/usage', { every: SLOWLY_MS }));
  const destinations = useQuery(
    reading<Page<DestinationOf>>('/destinations', { query: { limit: 100 }, every: SLOWLY_MS }),
  );
  const refusals = useQueries({
    queries: sources.map(({ id }) => reading<RefusalsOf>(`/sources/${id}/refusals`, { every: SLOWLY_MS })),
    combine: (answers) =>
      new Map(
        answers.flatMap(({ data }, place) => {
          const source = sources[place];
          return data === undefined || source === undefined ? [] : [[source.id, data] as const];
        }),
      ),
  });
  const rows = sourceRows({ sources, usage: usage.data, refusals, destinations: destinations.data?.items });
  return { pages, rows, usage: usage.data };
}

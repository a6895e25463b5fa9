import type { SourceEvents, SourceSchema } from '@millrace/contract/control';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading, readingPages } from '../../api/queries.ts';
import { schemaRows } from './schema-rows.ts';

/** The latest events tell names and properties; the list of names also knows those that were seen before. */
export function useSchema(sourceId: string) {
  const path = `/sources/${encodeURIComponent(sourceId)}`;
  const schema = useQuery(reading<SourceSchema>(`${path}/schema`, { every: 15_000 }));
  const names = useInfiniteQuery(
    readingPages<Static<typeof SourceEvents>['items'][number]>(`${path}/events`, {
      query: { limit: 100 },
      every: 30_000,
    }),
  );
  const seen = names.data?.pages.flatMap(({ items }) => items) ?? [];
  return { schema, names, rows: schema.data === undefined ? [] : schemaRows(schema.data, seen) };
}

/** The event names, fields and traits that the sources' stored events have, for suggestions while typing. */
import type { SourceSchema } from '@millrace/contract/control';
import { useQueries } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { seenIn, type Seen } from './seen.ts';

/** Each schema is made of stored events: more sources would cost the server more than the suggestions are worth. */
const MOST_SOURCES = 8;

export function useSeen(sourceIds: readonly string[]): Seen {
  const mayRead = useMay('sources:read');
  const reads = useQueries({
    queries: sourceIds.slice(0, MOST_SOURCES).map((id) => ({
      ...reading<SourceSchema>(`/sources/${id}/schema`, { enabled: mayRead }),
      staleTime: 60_000,
    })),
  });
  return seenIn(reads.flatMap(({ data }) => data?.items ?? []));
}

import type { Destination, Member, Source, Token } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { type Page, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';

/** The names of what the ids in an audit log and in lists of access mean, as far as they still exist. */
export function useNames(): ReadonlyMap<string, string> {
  const query = { limit: 100 };
  const mayTokens = useMay('tokens:read');
  const members = useQuery(reading<{ items: Member[] }>('/members'));
  const tokens = useQuery(reading<Page<Token>>('/tokens', { query, enabled: mayTokens }));
  const sources = useQuery(reading<Page<Source>>('/sources', { query }));
  const destinations = useQuery(reading<Page<Destination>>('/destinations', { query }));
  return new Map([
    ...(members.data?.items ?? []).map(({ userId, name }) => [userId, name] as const),
    ...[...(tokens.data?.items ?? []), ...(sources.data?.items ?? []), ...(destinations.data?.items ?? [])].map(
      ({ id, name }) => [id, name] as const,
    ),
    ['bootstrap', 'the first start'],
  ]);
}

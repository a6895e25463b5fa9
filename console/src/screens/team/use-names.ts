import type { Destination, Member, Source, Token } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { readingDefinitions } from '../../api/definitions.ts';
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
  const definitions = useQuery(readingDefinitions());
  return new Map([
    ...(members.data?.items ?? []).map(({ userId, name }) => [userId, name] as const),
    ...[tokens, sources, destinations, definitions]
      .flatMap((read): readonly { id: string; name: string }[] => read.data?.items ?? [])
      .map(({ id, name }) => [id, name] as const),
    ['bootstrap', 'the first start'],
  ]);
}

/** Questions that the API takes as POST and that change nothing, for `useQuery`: each question has its own place in the cache. */
import { queryOptions } from '@tanstack/react-query';
import { askControl, currentWorkspace } from '../../api/ask-control.ts';

const FRESH_MS = 60_000;

export function asking<Answer>(path: string, body: object, enabled = true) {
  return queryOptions({
    queryKey: [currentWorkspace() ?? '', path, body],
    queryFn: ({ signal }) => askControl<Answer>(path, { method: 'POST', body, signal }),
    enabled,
    retry: false,
    staleTime: FRESH_MS,
    refetchOnWindowFocus: false,
  });
}

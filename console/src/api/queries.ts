/** Reads and changes through TanStack Query. The key of a read begins with the workspace, so nothing is ever shown in another one. */
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  type QueryClient,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { askControl, currentWorkspace, type Method, type Query } from './ask-control.ts';

export type Page<Item> = {
  items: Item[];
  nextCursor: string | null;
  /** Of deliveries only: how many of those that succeeded at once are listed, from 0 to 1. */
  successRowsKept?: number;
};

type ReadOptions = {
  query?: Query;
  /** The query reads again after so many milliseconds while the window is in front. */
  every?: number | false;
  enabled?: boolean;
};

/** One answer of the API, for `useQuery`. The answer before stays until the new one is there. */
export function reading<Answer>(path: string, { query, every = false, enabled = true }: ReadOptions = {}) {
  return queryOptions({
    queryKey: [currentWorkspace() ?? '', path, query ?? {}],
    queryFn: ({ signal }) => askControl<Answer>(path, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: every,
    enabled,
  });
}

/** A list by pages, for `useInfiniteQuery`. */
export function readingPages<Item>(path: string, { query, every = false, enabled = true }: ReadOptions = {}) {
  return infiniteQueryOptions({
    queryKey: [currentWorkspace() ?? '', path, query ?? {}, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      askControl<Page<Item>>(path, { query: { ...query, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: (page: Page<Item>) => page.nextCursor,
    placeholderData: keepPreviousData,
    // Every page is read again, so a list that was opened far down stays as it is.
    refetchInterval: ({ state }) => (every !== false && (state.data?.pages.length ?? 0) <= 2 ? every : false),
    enabled,
  });
}

type Change<Input> = {
  method: Method;
  /** Made from what is changed, as `/sources/src_1`. */
  path: string | ((input: Input) => string);
  body?: (input: Input) => unknown;
  /** Paths whose answers are read again afterwards; `/sources` also means every path below it. */
  renews?: readonly string[];
};

/** A change, for buttons and forms: `mutate`, `isPending`, `error`. */
export function useChange<Input = void, Answer = unknown>({ method, path, body, renews = [] }: Change<Input>) {
  const client = useQueryClient();
  return useMutation<Answer, Error, Input>({
    mutationFn: (input) =>
      askControl<Answer>(typeof path === 'string' ? path : path(input), { method, body: body?.(input) }),
    // Not awaited: a renewed page may replace the button, whose own answer to the success would then be lost.
    onSuccess: () => void renew(client, renews),
  });
}

export async function renew(client: QueryClient, paths: readonly string[]): Promise<void> {
  await client.invalidateQueries({
    predicate: ({ queryKey }) => paths.some((path) => typeof queryKey[1] === 'string' && queryKey[1].startsWith(path)),
  });
}

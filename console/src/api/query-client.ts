import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './ask-control.ts';

const FRESH_MS = 2_000;
const MOST_RETRIES = 2;

/** A refusal is an answer: only what may pass by itself is tried again. */
function isWorthRetrying(failures: number, error: Error): boolean {
  if (failures >= MOST_RETRIES) return false;
  return !(error instanceof ApiError) || error.problem.status === 0 || error.problem.status >= 500;
}

/** A session that ended is noticed by the first read that the server refuses: `me` then leads to the sign-in. */
const queryCache = new QueryCache({
  onError: (error, { queryKey }) => {
    const isOver = error instanceof ApiError && error.problem.status === 401;
    if (isOver && queryKey[0] !== 'me') void queryClient.invalidateQueries({ queryKey: ['me'] });
  },
});

/** `always`: a browser that is offline says so at once. A change must never wait and be sent much later. */
export const queryClient = new QueryClient({
  queryCache,
  defaultOptions: {
    queries: { staleTime: FRESH_MS, retry: isWorthRetrying, throwOnError: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

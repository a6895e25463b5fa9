import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './ask-control.ts';

const FRESH_MS = 2_000;
const MOST_RETRIES = 2;

/** A refusal is an answer: only what may pass by itself is tried again. */
function isWorthRetrying(failures: number, error: Error): boolean {
  if (failures >= MOST_RETRIES) return false;
  return !(error instanceof ApiError) || error.problem.status === 0 || error.problem.status >= 500;
}

export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: FRESH_MS, retry: isWorthRetrying, throwOnError: false } },
});

/** The latest check-up of a destination: read while it runs, started on request. */
import type { CheckUp } from '@millrace/contract/control';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, askControl } from '../../../api/ask-control.ts';
import { reading } from '../../../api/queries.ts';

const POLL_MS = 1_000;

export function useCheckUp(id: string) {
  const client = useQueryClient();
  const path = `/destinations/${id}/check-up`;
  const options = reading<CheckUp>(path, { enabled: id !== '' });
  const read = useQuery({
    ...options,
    retry: false,
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? POLL_MS : false),
  });
  const start = useMutation({
    mutationFn: (targetIndex: number) => askControl<CheckUp>(path, { method: 'POST', body: { targetIndex } }),
    onSuccess: (checkUp) => client.setQueryData(options.queryKey, checkUp),
  });
  return { report: read.data, readError: isNone(read.error) ? undefined : read.error, start, again: read.refetch };
}

/** A destination that was never checked up has no report. */
function isNone(error: unknown): boolean {
  return error === null || (error instanceof ApiError && error.problem.status === 404);
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiError, askControl } from './ask-control.ts';

/** Ends the session and forgets everything that was read in it. While the server does not answer, the person is still signed in. */
export function useSignOut() {
  const client = useQueryClient();
  const leave = () => {
    client.clear();
    location.assign('/sign-in');
  };
  return useMutation({
    mutationFn: () => askControl('/session', { method: 'DELETE' }),
    onSuccess: leave,
    onError: (error) => {
      if (error instanceof ApiError && error.problem.status === 401) leave();
    },
  });
}

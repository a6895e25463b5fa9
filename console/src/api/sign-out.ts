import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiError, askControl } from './ask-control.ts';
import { readingMe } from './me.ts';

/** Ends the session and forgets everything that was read in it. While the server does not answer, the person is still signed in. */
export function useSignOut() {
  const client = useQueryClient();
  const leave = () => {
    // The provider has a session of its own, which would sign the next person at this browser in.
    const atProvider = client.getQueryData(readingMe.queryKey)?.singleSignOn?.signOutUrl;
    client.clear();
    location.assign(atProvider ?? '/sign-in');
  };
  return useMutation({
    mutationFn: () => askControl('/session', { method: 'DELETE' }),
    onSuccess: leave,
    onError: (error) => {
      if (error instanceof ApiError && error.problem.status === 401) leave();
    },
  });
}

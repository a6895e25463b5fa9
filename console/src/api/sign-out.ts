import { useMutation, useQueryClient } from '@tanstack/react-query';
import { askControl } from './ask-control.ts';

/** Ends the session and forgets everything that was read in it. */
export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => askControl('/session', { method: 'DELETE' }),
    onSettled: () => {
      client.clear();
      location.assign('/sign-in');
    },
  });
}

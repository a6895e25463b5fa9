/** Signing in by the provider of a workspace: the browser leaves the console, and comes back with an answer. */
import type { StartedSingleSignOn } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { askControl } from './ask-control.ts';

type Named = { email: string } | { workspaceId: string };

/** Leads to the page of the provider. */
export function useSignOn() {
  return useMutation({
    mutationFn: (body: Named) => askControl<StartedSingleSignOn>('/session/single-sign-on', { method: 'POST', body }),
    onSuccess: leaveFor,
  });
}

/** Links the account that is signed in with the provider, at its page. */
export function useLinkSignOn() {
  return useMutation({
    mutationFn: (body: { workspaceId: string; password: string }) =>
      askControl<StartedSingleSignOn>('/me/single-sign-on', { method: 'POST', body }),
    onSuccess: leaveFor,
  });
}

function leaveFor({ url }: StartedSingleSignOn): void {
  location.assign(url);
}

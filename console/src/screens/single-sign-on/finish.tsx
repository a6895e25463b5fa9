import type { FinishedSingleSignOn, Me } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { useEnter } from '../../api/enter.ts';
import { useSignOn } from '../../api/sign-on.ts';
import { LinkButton } from '../../parts/button.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Door } from '../../shell/door.tsx';
import { SignOnProblem } from '../../shell/sign-on-problem.tsx';

/** The provider sends the browser here. The answer is used once, and leaves the address of the page at once. */
export function FinishSignOn() {
  const { workspaceId } = useParams({ from: '/sso/$workspaceId/callback' });
  const search = useSearch({ from: '/sso/$workspaceId/callback' });
  const enter = useEnter();
  const signOn = useSignOn();
  const isBegun = useRef(false);
  const finish = useMutation({
    mutationFn: () => {
      const query = new URLSearchParams(search).toString();
      return askControl<FinishedSingleSignOn>('/session/single-sign-on/finish', {
        method: 'POST',
        body: { workspaceId, query },
      });
    },
    onSuccess: async ({ kind }) => {
      if (kind === 'signed_in') await enter(undefined, { href: '/', workspaceId });
      else if (await isShutToPasswords(workspaceId)) signOn.mutate({ workspaceId });
      else await enter(undefined, { href: '/profile', workspaceId });
    },
  });
  const { mutate } = finish;
  useEffect(() => {
    if (isBegun.current) return;
    isBegun.current = true;
    mutate();
    history.replaceState(history.state, '', location.pathname);
  }, [mutate]);
  const error = finish.error ?? signOn.error;
  if (error === null) {
    return (
      <Door title="Signing you in" sub="One moment.">
        <LoadingRows rows={3} />
      </Door>
    );
  }
  return (
    <Door title="You are not signed in" sub="Nothing has changed.">
      <SignOnProblem error={error} />
      <p className="btns mt2">
        <LinkButton look="ink" to="/sso/$workspaceId" params={{ workspaceId }}>
          Start again
        </LinkButton>
        <LinkButton to="/sign-in">Sign in with a password</LinkButton>
      </p>
    </Door>
  );
}

/** A linked account keeps its session with a password; the provider knows the person by now, so it asks for nothing a second time. */
async function isShutToPasswords(workspaceId: string): Promise<boolean> {
  const { workspaces } = await askControl<Me>('/me');
  return workspaces.find(({ id }) => id === workspaceId)?.needsSingleSignOn === true;
}

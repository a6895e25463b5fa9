import type { FinishedSingleSignOn } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { useEnter } from '../../api/enter.ts';
import { LinkButton } from '../../parts/button.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Door } from '../../shell/door.tsx';
import { SignOnProblem } from '../../shell/sign-on-problem.tsx';

/** The provider sends the browser here. The answer is used once, and leaves the address of the page at once. */
export function FinishSignOn() {
  const { workspaceId } = useParams({ from: '/sso/$workspaceId/callback' });
  const search = useSearch({ from: '/sso/$workspaceId/callback' });
  const enter = useEnter();
  const isBegun = useRef(false);
  const finish = useMutation({
    mutationFn: () => {
      const query = new URLSearchParams(search).toString();
      return askControl<FinishedSingleSignOn>('/session/single-sign-on/finish', {
        method: 'POST',
        body: { workspaceId, query },
      });
    },
    onSuccess: ({ kind }) => enter(undefined, { href: kind === 'linked' ? '/profile' : '/', workspaceId }),
  });
  const { mutate } = finish;
  useEffect(() => {
    if (isBegun.current) return;
    isBegun.current = true;
    mutate();
    history.replaceState(history.state, '', location.pathname);
  }, [mutate]);
  if (finish.error === null) {
    return (
      <Door title="Signing you in" sub="One moment.">
        <LoadingRows rows={3} />
      </Door>
    );
  }
  return (
    <Door title="You are not signed in" sub="Nothing has changed.">
      <SignOnProblem error={finish.error} />
      <p className="btns mt2">
        <LinkButton look="ink" to="/sso/$workspaceId" params={{ workspaceId }}>
          Start again
        </LinkButton>
        <LinkButton to="/sign-in">Sign in with a password</LinkButton>
      </p>
    </Door>
  );
}

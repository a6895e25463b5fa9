import type { Me } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { tokenOf } from '../../format/link-token.ts';
import { LinkButton } from '../../parts/button.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Door } from '../../shell/door.tsx';
import { JoinAsAccount } from './join-as-account.tsx';
import { JoinAsNew } from './join-as-new.tsx';

/** Keeps the link while its holder signs in, in this tab only: a token never belongs into the query of a URL. */
const KEPT = 'millrace-invitation';

export function Join() {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const token = tokenOf(`#${hash}`) || (sessionStorage.getItem(KEPT) ?? '');
  const me = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => askControl<Me>('/me', { signal }), retry: false });
  if (token === '') {
    return (
      <Door
        title="This page needs an invitation"
        sub="Open the whole link that you were sent. It holds a token after the # sign, which some programs cut off."
      >
        <LinkButton to="/sign-in">Sign in</LinkButton>
      </Door>
    );
  }
  if (me.isPending) {
    return (
      <Door title="Join a workspace" sub="One moment.">
        <LoadingRows rows={3} />
      </Door>
    );
  }
  const keep = () => sessionStorage.setItem(KEPT, token);
  const forget = () => sessionStorage.removeItem(KEPT);
  if (me.data !== undefined && me.data.user !== null && !isSignedOut(me.error))
    return <JoinAsAccount me={me.data} token={token} keep={keep} forget={forget} />;
  return <JoinAsNew token={token} keep={keep} forget={forget} />;
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.problem.status === 401;
}

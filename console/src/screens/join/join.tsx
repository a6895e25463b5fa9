import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../api/ask-control.ts';
import { readingMe } from '../../api/me.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Door } from '../../shell/door.tsx';
import { NoLinkDoor, useLinkToken } from '../../shell/link-door.tsx';
import { JoinAsAccount } from './join-as-account.tsx';
import { JoinAsNew } from './join-as-new.tsx';

export function Join() {
  const { token, keep, forget } = useLinkToken('millrace-invitation');
  const me = useQuery({ ...readingMe, retry: false });
  if (token === '') {
    return (
      <NoLinkDoor needs="an invitation" to="/sign-in">
        Sign in
      </NoLinkDoor>
    );
  }
  if (me.isPending) {
    return (
      <Door title="Join a workspace" sub="One moment.">
        <LoadingRows rows={3} />
      </Door>
    );
  }
  if (me.data !== undefined && me.data.user !== null && !isSignedOut(me.error))
    return <JoinAsAccount me={me.data} token={token} keep={keep} forget={forget} />;
  return <JoinAsNew token={token} keep={keep} forget={forget} />;
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.problem.status === 401;
}

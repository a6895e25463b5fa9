import type { Me } from '@millrace/contract/control';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { useEnter } from '../../api/enter.ts';
import { readingMe } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';
import { NoLinkDoor, useLinkToken } from '../../shell/link-door.tsx';

export function ConfirmEmail() {
  const { token, keep, forget } = useLinkToken('millrace-new-address');
  const me = useQuery({ ...readingMe, retry: false });
  if (token === '') {
    return (
      <NoLinkDoor needs="a link" to="/sign-in">
        Sign in
      </NoLinkDoor>
    );
  }
  if (me.isPending) {
    return (
      <Door title="Confirm your new address" sub="One moment.">
        <LoadingRows rows={3} />
      </Door>
    );
  }
  const user = me.error === null ? me.data?.user : undefined;
  if (user === undefined || user === null) {
    return (
      <Door
        title="Confirm your new address"
        sub="Sign in with the account that gets the new address, with its old one."
      >
        <Link to="/sign-in" search={{ back: '/confirm-email' }} onClick={keep}>
          Sign in and confirm
        </Link>
      </Door>
    );
  }
  return <Confirming token={token} email={user.email} forget={forget} />;
}

function Confirming({ token, email, forget }: { token: string; email: string; forget(): void }) {
  const enter = useEnter();
  const confirm = useMutation({
    mutationFn: () => askControl<Me>('/me/email/confirm', { method: 'POST', body: { token } }),
    onSuccess: (me) => {
      forget();
      return enter(me, { href: '/profile' });
    },
  });
  const hasEnded = confirm.error instanceof ApiError && confirm.error.problem.code === 'not_found';
  return (
    <Door
      title="Confirm your new address"
      sub={
        <>
          You are signed in as <OuterText text={email} />. From now on you sign in with the address that got this link.
          Your other sessions end.
        </>
      }
    >
      <DoorForm submit={() => confirm.mutate()}>
        {hasEnded && (
          <Note state="givenup" title="This link has ended, or is for another account.">
            Sign in with the right account, or ask for a new link on your profile.
          </Note>
        )}
        {confirm.error !== null && !hasEnded && <ProblemNote error={confirm.error} />}
        <Button look="ink" type="submit" isBusy={confirm.isPending}>
          Confirm the address
        </Button>
      </DoorForm>
    </Door>
  );
}

import type { Me } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { askControl } from '../../api/ask-control.ts';
import { useEnter } from '../../api/enter.ts';
import { Button } from '../../parts/button.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { OuterText } from '../../parts/texts.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';
import { JoinProblem } from './join-problem.tsx';

type JoinAsAccountProps = { me: Me; token: string; keep(): void; forget(): void };

export function JoinAsAccount({ me, token, keep, forget }: JoinAsAccountProps) {
  const enter = useEnter();
  const join = useMutation({
    mutationFn: () => askControl<Me>('/me/workspaces', { method: 'POST', body: { token } }),
    onSuccess: (after) => {
      forget();
      const known = new Set(me.workspaces.map(({ id }) => id));
      const added = after.workspaces.find(({ id }) => !known.has(id));
      return enter(after, added === undefined ? {} : { workspaceId: added.id });
    },
  });
  const signOut = useMutation({
    mutationFn: () => askControl('/session', { method: 'DELETE' }),
    onSuccess: () => {
      keep();
      location.reload();
    },
  });
  return (
    <Door
      title="Join a workspace"
      sub={
        <>
          You are signed in as <OuterText text={me.user?.name ?? ''} /> (<OuterText text={me.user?.email ?? ''} />
          ). You keep your account and its workspaces.
        </>
      }
    >
      <DoorForm submit={() => join.mutate()}>
        {join.error !== null && <JoinProblem error={join.error} keep={keep} />}
        <Button look="ink" type="submit" isBusy={join.isPending}>
          Join with this account
        </Button>
        <Button
          look="quiet"
          isBusy={signOut.isPending}
          onClick={() => signOut.mutate(undefined, { onError: tellError })}
        >
          Sign out and join as another person
        </Button>
      </DoorForm>
    </Door>
  );
}

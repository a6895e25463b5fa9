import { PasswordInput, TextInput } from '@mantine/core';
import type { Me } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { useEnter } from '../../api/enter.ts';
import { Button } from '../../parts/button.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';
import { JoinProblem } from './join-problem.tsx';

type JoinAsNewProps = { token: string; keep(): void; forget(): void };

export function JoinAsNew({ token, keep, forget }: JoinAsNewProps) {
  const enter = useEnter();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useMutation({
    mutationFn: () => askControl<Me>('/invitations/accept', { method: 'POST', body: { token, name, password } }),
    onSuccess: (me) => {
      forget();
      const workspaceId = me.workspaces.at(-1)?.id;
      return enter(me, workspaceId === undefined ? {} : { workspaceId });
    },
  });
  return (
    <Door
      title="Join a workspace"
      sub="You were invited by a link that works once, for 72 hours. Your email address is the one that was invited."
      foot={
        <>
          You have an account at {location.host}?{' '}
          <Link to="/sign-in" search={{ back: '/join' }} onClick={keep}>
            Sign in and join with it
          </Link>
          .
        </>
      }
    >
      <DoorForm submit={() => accept.mutate()}>
        <TextInput
          label="Your name"
          autoComplete="name"
          autoFocus
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          description="At least 12 characters."
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          autoComplete="new-password"
          required
          minLength={12}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {accept.error !== null && <JoinProblem error={accept.error} keep={keep} />}
        <Button look="ink" type="submit" isBusy={accept.isPending}>
          Create account and join
        </Button>
      </DoorForm>
    </Door>
  );
}

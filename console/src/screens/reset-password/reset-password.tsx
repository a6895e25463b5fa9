import { PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';
import { NoLinkDoor, useFragmentToken } from '../../shell/link-door.tsx';

export function ResetPassword() {
  const token = useFragmentToken();
  const [password, setPassword] = useState('');
  const reset = useMutation({
    mutationFn: () => askControl('/password-resets/use', { method: 'POST', body: { token, password } }),
  });
  if (token === '') {
    return (
      <NoLinkDoor needs="a link" to="/forgot-password">
        Ask for a link
      </NoLinkDoor>
    );
  }
  if (reset.isSuccess) {
    return (
      <Door title="Your password is changed" sub="All your sessions have ended. Sign in with the new password.">
        <LinkButton to="/sign-in">Sign in</LinkButton>
      </Door>
    );
  }
  const hasEnded = reset.error instanceof ApiError && reset.error.problem.code === 'not_found';
  return (
    <Door title="Choose a new password" sub="All your sessions end, in this browser and in others.">
      <DoorForm submit={() => reset.mutate()}>
        <PasswordInput
          label="New password"
          description="At least 12 characters."
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          autoComplete="new-password"
          autoFocus
          required
          minLength={12}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {hasEnded && (
          <Note state="givenup" title="This link has ended.">
            It was used, replaced by a new password, or is too old.{' '}
            <Link to="/forgot-password">Ask for another one</Link>.
          </Note>
        )}
        {reset.error !== null && !hasEnded && <ProblemNote error={reset.error} />}
        <Button look="ink" type="submit" isBusy={reset.isPending}>
          Change password
        </Button>
      </DoorForm>
    </Door>
  );
}

import { PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { useEnter } from '../../api/enter.ts';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';
import { ownPath } from './own-path.ts';

export function SignIn() {
  const { back } = useSearch({ from: '/sign-in' });
  const enter = useEnter();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => askControl('/session', { method: 'POST', body: { email, password } }),
    onSuccess: () => enter(undefined, { href: ownPath(back) }),
  });
  const isWrong = signIn.error instanceof ApiError && signIn.error.problem.code === 'wrong_password';
  return (
    <Door
      title="Sign in"
      sub={location.host}
      foot="A session ends after 12 hours without use, and after 7 days in any case. A new installation logs a link for its first owner. An invitation is a link, too: open it to join."
    >
      <DoorForm submit={() => signIn.mutate()}>
        <TextInput
          label="Email address"
          type="email"
          autoComplete="username"
          autoFocus
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          error={isWrong}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {isWrong && (
          <Note state="givenup" title="The email address or the password is wrong.">
            Check both and try again.
          </Note>
        )}
        {signIn.error !== null && !isWrong && <ProblemNote error={signIn.error} />}
        <Button look="ink" type="submit" isBusy={signIn.isPending}>
          Sign in
        </Button>
        <p className="small">
          <Link to="/forgot-password">Forgot your password?</Link>
          <br />
          <Link to="/sso">Continue with single sign-on</Link>
        </p>
      </DoorForm>
    </Door>
  );
}

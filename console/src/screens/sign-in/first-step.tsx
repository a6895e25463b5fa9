import { PasswordInput, TextInput } from '@mantine/core';
import type { PasskeyOptions, SecondFactorAsked } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { hasPasskeys, signWithPasskey } from '../../api/passkeys.ts';
import { Button } from '../../parts/button.tsx';
import { FactorProblem } from '../../parts/factor-fields.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';

type FirstStepProps = { ask(asked: SecondFactorAsked): void; signedIn(): Promise<void> };

/** The password, or a passkey in its place. */
export function FirstStep({ ask, signedIn }: FirstStepProps) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () =>
      askControl<SecondFactorAsked | undefined>('/session', { method: 'POST', body: { email, password } }),
    onSuccess: (asked) => (asked === undefined ? signedIn() : ask(asked)),
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
        {hasPasskeys() && <PasskeyButton signedIn={signedIn} />}
        <p className="small">
          <Link to="/forgot-password">Forgot your password?</Link>
          <br />
          <Link to="/sso">Continue with single sign-on</Link>
        </p>
      </DoorForm>
    </Door>
  );
}

function PasskeyButton({ signedIn }: Pick<FirstStepProps, 'signedIn'>) {
  const signIn = useMutation({
    mutationFn: async () => {
      const options = await askControl<PasskeyOptions>('/session/passkey/options', { method: 'POST' });
      const passkey = await signWithPasskey(options);
      await askControl('/session/passkey', { method: 'POST', body: { passkey } });
    },
    onSuccess: signedIn,
  });
  return (
    <>
      <Button isBusy={signIn.isPending} onClick={() => signIn.mutate()}>
        Sign in with a passkey
      </Button>
      {signIn.error !== null && <FactorProblem error={signIn.error} />}
    </>
  );
}

import { TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSignOn } from '../../api/sign-on.ts';
import { Button } from '../../parts/button.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';
import { SignOnProblem } from '../../shell/sign-on-problem.tsx';

/** Finds the provider by the domain of an address. */
export function FindSignOn() {
  const [email, setEmail] = useState('');
  const signOn = useSignOn();
  return (
    <Door
      title="Single sign-on"
      sub="Your email address leads to the provider of your workspace."
      foot="Your workspace may also have a link of its own to sign in: ask an owner for it."
    >
      <DoorForm submit={() => signOn.mutate({ email })}>
        <TextInput
          label="Email address"
          type="email"
          autoComplete="username"
          autoFocus
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <SignOnProblem error={signOn.error} />
        <Button look="ink" type="submit" isBusy={signOn.isPending}>
          Continue
        </Button>
        <p className="small">
          <Link to="/sign-in">Sign in with a password</Link>
        </p>
      </DoorForm>
    </Door>
  );
}

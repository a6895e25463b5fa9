import { TextInput } from '@mantine/core';
import type { MailAsked } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';

export function ForgotPassword() {
  const [email, setEmail] = useState('');
  const ask = useMutation({
    mutationFn: () => askControl<MailAsked>('/password-resets', { method: 'POST', body: { email } }),
  });
  if (ask.data !== undefined) return <Asked email={email} sendsMail={ask.data.sendsMail} />;
  return (
    <Door
      title="Forgot your password?"
      sub="You get a mail with a link. It works once, for an hour, and lets you choose a new password."
      foot={<Link to="/sign-in">Back to sign-in</Link>}
    >
      <DoorForm submit={() => ask.mutate()}>
        <TextInput
          label="Email address"
          type="email"
          autoComplete="username"
          autoFocus
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        {ask.error !== null && <ProblemNote error={ask.error} />}
        <Button look="ink" type="submit" isBusy={ask.isPending}>
          Send the link
        </Button>
      </DoorForm>
    </Door>
  );
}

function Asked({ email, sendsMail }: { email: string; sendsMail: boolean }) {
  if (!sendsMail) {
    return (
      <Door
        title="This installation sends no mail"
        sub="Ask an owner or admin of your workspace for a link to a new password: Team and audit, your name, New password."
      >
        <LinkButton to="/sign-in">Back to sign-in</LinkButton>
      </Door>
    );
  }
  return (
    <Door
      title="Look into your mail"
      sub={
        <>
          If <OuterText text={email} /> has an account here, a mail with a link is on its way. It may take some minutes.
          The console says the same for every address, so that no answer shows an account.
        </>
      }
    >
      <LinkButton to="/sign-in">Back to sign-in</LinkButton>
    </Door>
  );
}

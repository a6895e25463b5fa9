import { PasswordInput, TextInput } from '@mantine/core';
import type { Me } from '@millrace/contract/control';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Wheel } from '../../shell/navigation.tsx';

export function SignIn() {
  const { back } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => askControl<Me>('/session', { method: 'POST', body: { email, password } }),
    onSuccess: async (me) => {
      client.clear();
      client.setQueryData(['me'], me);
      await navigate({ href: ownPath(back) });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <main className="door">
      <form className="door-card stack" onSubmit={submit}>
        <div className="door-brand">
          <Wheel /> Millrace
        </div>
        <h1>Sign in</h1>
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {signIn.error !== null && <ProblemNote error={signIn.error} />}
        <Button look="ink" type="submit" isBusy={signIn.isPending}>
          Sign in
        </Button>
        <p className="dim small">
          A new installation prints a link for its first owner when it starts. An invitation is a link, too: open it to
          join.
        </p>
      </form>
    </main>
  );
}

/** Only a path of this console: a link to it must not lead elsewhere. */
function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])/.test(path) ? path : '/';
}

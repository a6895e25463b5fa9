import { PasswordInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../api/ask-control.ts';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { toast } from '../../parts/toasts.tsx';
import styles from './profile.module.css';

type Passwords = { currentPassword: string; newPassword: string };
const EMPTY: Passwords = { currentPassword: '', newPassword: '' };

export function PasswordCard() {
  const { user } = useSession();
  const [passwords, setPasswords] = useState(EMPTY);
  const change = useChange<Passwords>({
    method: 'POST',
    path: '/me/password',
    body: (input) => input,
    renews: ['/sessions'],
  });
  const isWrong = change.error instanceof ApiError && change.error.problem.code === 'wrong_password';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(passwords, {
      onSuccess: () => {
        setPasswords(EMPTY);
        toast({ text: 'Your password is changed. Your other sessions have ended.' });
      },
    });
  };
  return (
    <Card title="Password">
      <form className={`pad ${styles['form']}`} onSubmit={submit}>
        <input type="hidden" name="username" autoComplete="username" value={user.email} />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          value={passwords.currentPassword}
          error={isWrong ? 'This is not your current password.' : undefined}
          onChange={(event) => setPasswords({ ...passwords, currentPassword: event.currentTarget.value })}
        />
        <PasswordInput
          label="New password"
          description="At least 12 characters. Your other sessions end."
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          autoComplete="new-password"
          required
          minLength={12}
          value={passwords.newPassword}
          onChange={(event) => setPasswords({ ...passwords, newPassword: event.currentTarget.value })}
        />
        {change.error !== null && !isWrong && <ProblemNote error={change.error} />}
        <div>
          <Button look="ink" type="submit" isBusy={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Card>
  );
}

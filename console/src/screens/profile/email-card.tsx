import { PasswordInput, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../api/ask-control.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { toast } from '../../parts/toasts.tsx';
import styles from './profile.module.css';

type Asked = { email: string; password: string };
const EMPTY: Asked = { email: '', password: '' };

export function EmailCard() {
  const [asked, setAsked] = useState(EMPTY);
  const change = useChange<Asked>({ method: 'POST', path: '/me/email', body: (input) => input });
  const isWrong = change.error instanceof ApiError && change.error.problem.code === 'wrong_password';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(asked, {
      onSuccess: () => {
        setAsked(EMPTY);
        toast({
          text: 'If the address is free, a mail is on its way there. Your address changes when you open its link.',
        });
      },
    });
  };
  return (
    <Card title="Email address">
      <form className={`pad ${styles['form']}`} onSubmit={submit}>
        <TextInput
          label="New email address"
          description="You confirm it with a link that is mailed there."
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          type="email"
          autoComplete="email"
          required
          value={asked.email}
          onChange={(event) => setAsked({ ...asked, email: event.currentTarget.value })}
        />
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          value={asked.password}
          error={isWrong ? 'This is not your current password.' : undefined}
          onChange={(event) => setAsked({ ...asked, password: event.currentTarget.value })}
        />
        {change.error !== null && !isWrong && <ProblemNote error={change.error} />}
        <div>
          <Button look="ink" type="submit" isBusy={change.isPending}>
            Change address
          </Button>
        </div>
      </form>
    </Card>
  );
}

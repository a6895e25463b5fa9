import { PasswordInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../api/ask-control.ts';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';

type LinkSignOnFormProps = { link(password: string): void; isBusy: boolean; error: Error | null };

/** The password proves the account, and the page of the provider proves the person. */
export function LinkSignOnForm({ link, isBusy, error }: LinkSignOnFormProps) {
  const [password, setPassword] = useState('');
  const isWrong = error instanceof ApiError && error.problem.code === 'wrong_password';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    link(password);
  };
  return (
    <form className="stack" onSubmit={submit}>
      <PasswordInput
        label="Your password"
        description="Your other sessions end when the account is linked."
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        autoComplete="current-password"
        required
        value={password}
        error={isWrong ? 'This is not your current password.' : undefined}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {error !== null && !isWrong && <ProblemNote error={error} />}
      <div>
        <Button look="ink" type="submit" isBusy={isBusy}>
          Link and sign in
        </Button>
      </div>
    </form>
  );
}

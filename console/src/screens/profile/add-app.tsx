import { TextInput } from '@mantine/core';
import type { NewTotp, TotpAdded } from '@millrace/contract/control';
import { type FormEvent, useEffect, useState } from 'react';
import { ApiError } from '../../api/ask-control.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { QrCode } from './qr-code.tsx';

type AddAppProps = { added(codes: readonly string[] | null): void; close(): void };

export function AddApp({ added, close }: AddAppProps) {
  const { mutate, data, error } = useChange<void, NewTotp>({ method: 'POST', path: '/me/totp' });
  useEffect(() => mutate(), [mutate]);
  if (error !== null) return <ProblemNote error={error} retry={() => mutate()} />;
  if (data === undefined) return <LoadingRows rows={4} />;
  return <FirstCode seed={data} added={added} close={close} />;
}

/** The app counts after its first right code: a person whose scan failed is not locked out. */
function FirstCode({ seed, added, close }: AddAppProps & { seed: NewTotp }) {
  const [code, setCode] = useState('');
  const confirm = useChange<string, TotpAdded>({
    method: 'POST',
    path: '/me/totp/confirm',
    body: (input) => ({ code: input.replaceAll(/\s/g, '') }),
    renews: ['/me/factors', '/sessions'],
  });
  const isWrong = confirm.error instanceof ApiError && confirm.error.problem.code === 'wrong_code';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirm.mutate(code, { onSuccess: ({ recoveryCodes }) => added(recoveryCodes) });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>Scan this code with an authenticator app, then type the six digits that the app shows.</p>
      <QrCode text={seed.uri} label="QR code for an authenticator app" />
      <p className="small">
        Or type this key into the app: <code className="outer">{seed.secret}</code>{' '}
        <CopyButton text={seed.secret} label="Copy the key" />
      </p>
      <TextInput
        label="Code of the app"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        data-autofocus
        value={code}
        error={isWrong ? 'This is not the current code of the app. Check the clock of your phone.' : undefined}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      {confirm.error !== null && !isWrong && <ProblemNote error={confirm.error} />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button look="ink" type="submit" isBusy={confirm.isPending}>
          Add the app
        </Button>
      </div>
    </form>
  );
}

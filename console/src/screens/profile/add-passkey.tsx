import { TextInput } from '@mantine/core';
import type { PasskeyAdded, PasskeyOptions } from '@millrace/contract/control';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { makePasskey } from '../../api/passkeys.ts';
import { renew } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { FactorProblem } from '../../parts/factor-fields.tsx';
import { browserWords } from './user-agent.ts';

type AddPasskeyProps = { added(codes: readonly string[] | null): void; close(): void };

export function AddPasskey({ added, close }: AddPasskeyProps) {
  const client = useQueryClient();
  const [name, setName] = useState(() => browserWords(navigator.userAgent));
  const add = useMutation({
    mutationFn: async () => {
      const options = await askControl<PasskeyOptions>('/me/passkeys/options', { method: 'POST' });
      const passkey = await makePasskey(options);
      return askControl<PasskeyAdded>('/me/passkeys', { method: 'POST', body: { name, passkey } });
    },
    onSuccess: ({ recoveryCodes }) => {
      void renew(client, ['/me/factors', '/sessions']);
      added(recoveryCodes);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>
        Your browser makes the passkey, on this device, your phone or a security key. It then signs you in without the
        password, or as your second factor.
      </p>
      <TextInput
        label="Name"
        description="To tell it from your other passkeys."
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        required
        maxLength={200}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {add.error !== null && <FactorProblem error={add.error} />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button look="ink" type="submit" isBusy={add.isPending}>
          Make the passkey
        </Button>
      </div>
    </form>
  );
}

import { TextInput } from '@mantine/core';
import type { Passkey } from '@millrace/contract/control';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

export function RenamePasskey({ passkey }: { passkey: Passkey }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Rename
      </Button>
      <Dialog title="Rename the passkey" isOpen={isOpen} close={() => setIsOpen(false)}>
        <NameForm passkey={passkey} close={() => setIsOpen(false)} />
      </Dialog>
    </>
  );
}

function NameForm({ passkey, close }: { passkey: Passkey; close(): void }) {
  const [name, setName] = useState(passkey.name);
  const rename = useChange<string>({
    method: 'PATCH',
    path: `/me/passkeys/${passkey.id}`,
    body: (input) => ({ name: input }),
    renews: ['/me/factors'],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate(name, { onSuccess: close });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        label="Name"
        required
        maxLength={200}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {rename.error !== null && <ProblemNote error={rename.error} what="The passkey was not renamed." />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button look="ink" type="submit" isBusy={rename.isPending}>
          Rename
        </Button>
      </div>
    </form>
  );
}

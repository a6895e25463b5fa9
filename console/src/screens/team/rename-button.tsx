import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';

export function RenameButton() {
  const { workspace } = useSession();
  const client = useQueryClient();
  const [name, setName] = useState<string | undefined>();
  const rename = useChange<string>({ method: 'PATCH', path: '/workspace', body: (to) => ({ name: to }) });
  const confirm = () =>
    rename.mutate(name ?? '', {
      onSuccess: () => {
        void client.invalidateQueries({ queryKey: ['me'] });
        setName(undefined);
      },
    });
  return (
    <>
      <Button onClick={() => setName(workspace.name)}>Rename workspace</Button>
      <Confirm
        title="Rename the workspace"
        verb="Rename"
        keep="Cancel"
        isOpen={name !== undefined}
        close={() => setName(undefined)}
        isBusy={rename.isPending}
        error={rename.error}
        confirm={confirm}
      >
        <TextInput
          label="Name"
          required
          maxLength={200}
          data-autofocus
          value={name ?? ''}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Confirm>
    </>
  );
}

import { TextInput } from '@mantine/core';
import type { WriteKey } from '@millrace/contract/control';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Code } from '../../parts/code.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

const LONGEST_LABEL = 200;

export function NewKeyDialog({ sourceId, close }: { sourceId: string; close(): void }) {
  const [label, setLabel] = useState('');
  const create = useChange<void, WriteKey>({
    method: 'POST',
    path: `/sources/${sourceId}/write-keys`,
    body: () => (label.trim() === '' ? {} : { label: label.trim() }),
    renews: ['/sources'],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!create.isPending) create.mutate();
  };
  return (
    <Dialog title="New write key" isOpen close={close}>
      {create.data !== undefined ? (
        <div className="stack">
          <p>
            Put it into the code that sends calls. Collect knows it within a second. It is no secret: it may stand in a
            web page, and this page goes on showing it.
          </p>
          <Code text={create.data.key} label="the write key" />
          <div className="btns end">
            <Button look="ink" onClick={close}>
              Done
            </Button>
          </div>
        </div>
      ) : (
        <form className="stack" onSubmit={submit}>
          <TextInput
            label="Label"
            description="Who uses it: a team, a version of an app. It helps to see which key can be revoked."
            placeholder="Android app"
            value={label}
            maxLength={LONGEST_LABEL}
            data-autofocus
            autoComplete="off"
            onChange={({ currentTarget }) => setLabel(currentTarget.value)}
          />
          {create.error !== null && <ProblemNote error={create.error} what="The write key was not created." />}
          <div className="btns end">
            <Button onClick={close}>Cancel</Button>
            <Button look="ink" type="submit" isBusy={create.isPending}>
              Create write key
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

import { NumberInput } from '@mantine/core';
import type { LimitUse } from '@millrace/contract/control';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { amount } from '../../parts/limits/limit-words.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';

/** A number for one limit of one workspace, or its default again. */
export function LimitDialog({ limit, path, close }: { limit: LimitUse; path: string; close(): void }) {
  const [most, setMost] = useState<number | string>(limit.limit ?? '');
  const change = useChange<number | null>({
    method: 'PATCH',
    path,
    body: (input) => ({ limits: { [limit.name]: input } }),
    renews: ['/operator', '/workspace/limits'],
  });
  const save = (value: number | null) => change.mutate(value, { onSuccess: close });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof most === 'number') save(most);
  };
  const standard = limit.default === null ? 'a share of what is free' : amount(limit.default, limit);
  return (
    <Dialog title={limit.title} isOpen close={close}>
      <form className="stack" onSubmit={submit}>
        <NumberInput
          label={`Allowed, in ${limit.unit}`}
          description={`The default of this installation is ${standard}. The change holds within seconds and is in the audit log of both workspaces.`}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          required
          min={1}
          max={1_000_000_000_000_000}
          allowDecimal={false}
          thousandSeparator=","
          data-autofocus
          value={most}
          onChange={setMost}
        />
        {change.error !== null && <ProblemNote error={change.error} what="The limit was not changed." />}
        <div className="btns end">
          <Button type="submit" look="ink" isBusy={change.isPending}>
            Save
          </Button>
          {limit.isOwn && <Button onClick={() => save(null)}>Use the default</Button>}
        </div>
      </form>
    </Dialog>
  );
}

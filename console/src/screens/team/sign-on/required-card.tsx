import { Checkbox, Switch } from '@mantine/core';
import type { Connection, Member } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { reading, useChange } from '../../../api/queries.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { toast } from '../../../parts/toasts.tsx';

/** Who reaches the workspace without the provider. */
export function RequiredCard({ connection }: { connection: Connection }) {
  const members = useQuery(reading<{ items: Member[] }>('/members'));
  const [isRequired, setIsRequired] = useState(connection.required);
  const [chosen, setChosen] = useState<string[]>(connection.breakGlassOwners);
  const save = useChange<object>({
    method: 'PATCH',
    path: '/single-sign-on',
    body: (input) => input,
    renews: ['/single-sign-on', '/members'],
  });
  const owners = members.data?.items.filter(({ role, isManaged }) => role === 'owner' && !isManaged) ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const text = isRequired ? 'Members need single sign-on from now on.' : 'Members may sign in with their passwords.';
    save.mutate({ required: isRequired, breakGlassOwners: chosen }, { onSuccess: () => toast({ text }) });
  };
  return (
    <Card title="Required">
      <form className="pad stack" onSubmit={submit}>
        <Switch
          label="Members reach this workspace by single sign-on alone"
          description="Tokens keep working. Sessions with a password no longer open the workspace."
          checked={isRequired}
          onChange={(event) => setIsRequired(event.currentTarget.checked)}
        />
        <Checkbox.Group
          label="Break-glass owners"
          description="They may sign in with their password when the provider does not work. The audit log says when they do."
          value={chosen}
          onChange={setChosen}
        >
          <div className="stack mt2">
            {owners.map(({ userId, name, email }) => (
              <Checkbox key={userId} value={userId} label={`${name.slice(0, 60)} (${email.slice(0, 80)})`} />
            ))}
          </div>
        </Checkbox.Group>
        {save.error !== null && <ProblemNote error={save.error} what="It was not saved." />}
        <div>
          <Button type="submit" isBusy={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  );
}

import { PasswordInput, TextInput } from '@mantine/core';
import type { Connection } from '@millrace/contract/control';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../../api/queries.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { type Draft, draftOf, toBody } from './draft.ts';
import { ORDER, PeopleFields } from './people-fields.tsx';

export function ConnectionForm({ connection }: { connection: Connection | null }) {
  const [draft, setDraft] = useState(() => draftOf(connection));
  const isNew = connection === null;
  const save = useChange<object>({
    method: isNew ? 'POST' : 'PATCH',
    path: '/single-sign-on',
    body: (input) => input,
    renews: ['/single-sign-on'],
  });
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(toBody(draft, connection), {
      onSuccess: () =>
        toast({ text: isNew ? 'The workspace is connected. Test it now.' : 'Single sign-on is changed.' }),
    });
  };
  return (
    <Card title={isNew ? 'Connect a provider' : 'Provider'}>
      <form className="pad stack" onSubmit={submit}>
        <TextInput
          label="Issuer"
          description="The address of your OpenID provider, as its discovery document names it."
          inputWrapperOrder={ORDER}
          placeholder="https://login.example.com"
          required
          value={draft.issuer}
          onChange={(event) => set({ issuer: event.currentTarget.value })}
        />
        <TextInput
          label="Client id"
          autoComplete="off"
          required
          value={draft.clientId}
          onChange={(event) => set({ clientId: event.currentTarget.value })}
        />
        <PasswordInput
          label="Client secret"
          description={isNew ? 'It is sealed, and never shown again.' : 'Leave it empty to keep the one that is saved.'}
          inputWrapperOrder={ORDER}
          autoComplete="off"
          required={isNew}
          value={draft.clientSecret}
          onChange={(event) => set({ clientSecret: event.currentTarget.value })}
        />
        <PeopleFields draft={draft} set={set} />
        {save.error !== null && <ProblemNote error={save.error} what="It was not saved." />}
        <div>
          <Button look="ink" type="submit" isBusy={save.isPending}>
            {isNew ? 'Connect' : 'Save'}
          </Button>
        </div>
      </form>
    </Card>
  );
}

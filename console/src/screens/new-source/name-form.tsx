import { TextInput } from '@mantine/core';
import type { Source } from '@millrace/contract/control';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

const LONGEST_NAME = 200;

export function NameForm() {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const create = useChange<void, Source>({
    method: 'POST',
    path: '/sources',
    body: () => ({ name: name.trim() }),
    renews: ['/sources'],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '' || create.isPending) return;
    create.mutate(undefined, {
      onSuccess: ({ id }) => void navigate({ to: '/sources/new', search: { sourceId: id }, replace: true }),
    });
  };
  return (
    <Card title="1. Name">
      <form className="pad stack" onSubmit={submit}>
        <TextInput
          label="Name"
          description="One source for each website, app or service. You can rename it later."
          placeholder="Web shop"
          value={name}
          maxLength={LONGEST_NAME}
          required
          autoFocus
          autoComplete="off"
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {create.error !== null && <ProblemNote error={create.error} what="The source was not created." />}
        <div className="btns">
          <Button look="ink" type="submit" disabled={name.trim() === ''} isBusy={create.isPending}>
            Create source
          </Button>
          <LinkButton look="quiet" to="/sources">
            Cancel
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}

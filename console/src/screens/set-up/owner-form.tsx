import { PasswordInput, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { DoorForm } from '../../shell/door.tsx';

export type FirstOwner = { workspace: string; name: string; email: string; password: string };

type OwnerFormProps = {
  create(owner: FirstOwner): void;
  isBusy: boolean;
  problem: ReactNode;
  /** Asked for when the page was opened without the link. */
  pasted?: string;
  setPasted?: (text: string) => void;
};

export function OwnerForm({ create, isBusy, problem, pasted, setPasted }: OwnerFormProps) {
  const [owner, setOwner] = useState<FirstOwner>({ workspace: '', name: '', email: '', password: '' });
  const field = (name: keyof FirstOwner) => ({
    required: true,
    value: owner[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setOwner((before) => ({ ...before, [name]: value }));
    },
  });
  return (
    <DoorForm submit={() => create(owner)}>
      {setPasted !== undefined && (
        <TextInput
          label="Link from the log"
          required
          autoFocus
          autoComplete="off"
          placeholder="http://…/setup#token=mlr_…"
          value={pasted ?? ''}
          onChange={(event) => setPasted(event.currentTarget.value)}
        />
      )}
      <TextInput
        label="Workspace"
        placeholder="Your company or team"
        maxLength={200}
        autoFocus={setPasted === undefined}
        {...field('workspace')}
      />
      <TextInput label="Your name" autoComplete="name" maxLength={200} {...field('name')} />
      <TextInput label="Email address" type="email" autoComplete="username" {...field('email')} />
      <PasswordInput
        label="Password"
        description="At least 12 characters."
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        autoComplete="new-password"
        minLength={12}
        {...field('password')}
      />
      {problem}
      <Button look="ink" type="submit" isBusy={isBusy}>
        Create workspace
      </Button>
    </DoorForm>
  );
}

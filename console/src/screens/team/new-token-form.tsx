import { Checkbox, NativeSelect, Switch, TextInput } from '@mantine/core';
import { isAllowed, isOfOperators, PERMISSION_NAMES, type RoleName } from '@millrace/contract/permissions';
import { type FormEvent, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { grantable, ROLE_WORDS } from './roles.ts';
import styles from './team.module.css';

export type NewToken = { name: string; role: RoleName; scopes?: string[]; expiresAt?: string };

const DAY_MS = 86_400_000;
const ENDS = [
  { value: '30', label: 'after 30 days' },
  { value: '90', label: 'after 90 days' },
  { value: '365', label: 'after a year' },
  { value: '', label: 'never' },
];

type NewTokenFormProps = { create(token: NewToken): void; isBusy: boolean; error: unknown; close(): void };

export function NewTokenForm({ create, isBusy, error, close }: NewTokenFormProps) {
  const { workspace } = useSession();
  const [name, setName] = useState('');
  const [role, setRole] = useState<RoleName>('viewer');
  const [days, setDays] = useState('90');
  const [scopes, setScopes] = useState<string[] | undefined>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create({
      name,
      role,
      ...(scopes === undefined ? {} : { scopes }),
      ...(days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        label="Name"
        description="Say which script uses it, so that you know later whether it is still needed."
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        required
        maxLength={200}
        data-autofocus
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label="Role"
        description={`May ${ROLE_WORDS[role]}.`}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        value={role}
        data={grantable(workspace.role)}
        onChange={({ currentTarget: { value } }) => {
          setRole(value as RoleName);
          setScopes(undefined);
        }}
      />
      <Scopes role={role} scopes={scopes} setScopes={setScopes} />
      <NativeSelect label="Ends" value={days} data={ENDS} onChange={(event) => setDays(event.currentTarget.value)} />
      {error !== null && <ProblemNote error={error} />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button look="ink" type="submit" isBusy={isBusy} disabled={scopes?.length === 0}>
          Create the token
        </Button>
      </div>
    </form>
  );
}

type ScopesProps = { role: RoleName; scopes: string[] | undefined; setScopes(scopes: string[] | undefined): void };

function Scopes({ role, scopes, setScopes }: ScopesProps) {
  const { isOperator } = useSession();
  return (
    <>
      <Switch
        label="Narrow it to some permissions"
        checked={scopes !== undefined}
        onChange={(event) => setScopes(event.currentTarget.checked ? [] : undefined)}
      />
      {scopes !== undefined && (
        <Checkbox.Group
          label="Permissions"
          description={scopes.length === 0 ? 'Choose at least one.' : undefined}
          value={scopes}
          onChange={setScopes}
        >
          <div className={styles['scopes']}>
            {PERMISSION_NAMES.filter(
              (permission) => isAllowed(permission, { role }) && (isOperator || !isOfOperators(permission)),
            ).map((permission) => (
              <Checkbox key={permission} value={permission} label={permission} size="xs" />
            ))}
          </div>
        </Checkbox.Group>
      )}
    </>
  );
}

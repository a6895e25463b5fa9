import { TextInput } from '@mantine/core';
import type { Workspace } from '@millrace/contract/control';
import { type FormEvent, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useChange } from '../../api/queries.ts';
import { rememberWorkspace, useSession } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText } from '../../parts/texts.tsx';
import styles from './profile.module.css';

/** The workspaces of the person: leave one, or create another. */
export function WorkspacesCard() {
  const { workspaces } = useSession();
  return (
    <Card title={workspaces.length === 1 ? 'Workspace' : 'Workspaces'} aside={workspaces.length}>
      <table className="folds">
        <thead>
          <tr>
            <th>Name</th>
            <th>Your role</th>
            <th>
              <span className="sr">Leave</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workspaces.map(({ id, name, role }) => (
            <tr key={id}>
              <td>
                <OuterText text={name} most={60} />
              </td>
              <td data-label="Role">{role}</td>
              <td className="num">
                <LeaveButton id={id} name={name} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <NewWorkspace />
    </Card>
  );
}

function NewWorkspace() {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const create = useChange<string, Workspace>({
    method: 'POST',
    path: '/workspaces',
    body: (input) => ({ name: input }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name, {
      onSuccess: ({ id }) => {
        rememberWorkspace(id);
        client.clear();
        location.assign('/');
      },
    });
  };
  return (
    <form className={`pad ${styles['form']}`} onSubmit={submit}>
      <TextInput
        label="New workspace"
        description="You become its owner. The settings of this installation say who may create one."
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        required
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {create.error !== null && <ProblemNote error={create.error} what="The workspace was not created." />}
      <div>
        <Button type="submit" isBusy={create.isPending}>
          Create workspace
        </Button>
      </div>
    </form>
  );
}

function LeaveButton({ id, name }: { id: string; name: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const leave = useChange({ method: 'DELETE', path: `/me/workspaces/${id}` });
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Leave
      </Button>
      <Confirm
        title={
          <>
            Leave <OuterText text={name} most={40} />?
          </>
        }
        verb="Leave"
        typed={name}
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={leave.isPending}
        error={leave.error}
        confirm={() => leave.mutate(undefined, { onSuccess: () => location.assign('/') })}
      >
        <p>
          You lose access at once, and every token that you made there ends. The last owner cannot leave: hand the
          workspace over first. Without another workspace your account is removed after a day.
        </p>
      </Confirm>
    </>
  );
}

import { NativeSelect } from '@mantine/core';
import type { Member, Operator } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reading, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';

type Listed = { items: Operator[]; areFirstOwners: boolean };

/** The people and tokens that run the installation. */
export function OperatorsTab() {
  const read = useQuery(reading<Listed>('/operators'));
  const items = read.data?.items ?? [];
  return (
    <Card title="Operators" aside="run the installation, and see no payloads of workspaces of others">
      <div className="pad stack">
        {read.data?.areFirstOwners === true && (
          <Note title="Nobody was made an operator yet.">
            Until then the owners of the first workspace are the operators. The first person whom you add ends that; you
            stay an operator yourself.
          </Note>
        )}
        <AddOperator operators={items} />
      </div>
      <ListStates
        read={read}
        failed="The operators cannot be shown."
        isEmpty={items.length === 0}
        empty={<Empty title="No operators">The people who run this installation are listed here.</Empty>}
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Operator</th>
              <th>Kind</th>
              <th>Since</th>
              <th>
                <span className="sr">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((operator) => (
              <tr key={operator.id}>
                <td>
                  <b>
                    <OuterText text={operator.name} most={60} />
                  </b>
                  {operator.email !== null && (
                    <span className="sub">
                      <OuterText text={operator.email} />
                    </span>
                  )}
                </td>
                <td data-label="Kind">{operator.kind === 'user' ? 'person' : 'token'}</td>
                <td data-label="Since">
                  <TimeText at={operator.addedAt} />
                </td>
                <td className="num">{read.data?.areFirstOwners === false && <RemoveButton operator={operator} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ListStates>
    </Card>
  );
}

function AddOperator({ operators }: { operators: readonly Operator[] }) {
  const members = useQuery(reading<{ items: Member[] }>('/members'));
  const [chosen, setChosen] = useState('');
  const add = useChange<string>({ method: 'POST', path: '/operators', body: (id) => ({ id }), renews: ['/operators'] });
  const others = (members.data?.items ?? []).filter(({ userId }) => operators.every(({ id }) => id !== userId));
  const people = others.map(({ userId, name, email }) => ({ value: userId, label: `${name} (${email})`.slice(0, 80) }));
  return (
    <>
      {add.error !== null && <ProblemNote error={add.error} what="The person was not made an operator." />}
      <div className="btns">
        <NativeSelect
          aria-label="A member of this workspace"
          value={chosen}
          data={[{ value: '', label: 'Choose a member of this workspace' }, ...people]}
          onChange={({ currentTarget: { value } }) => setChosen(value)}
        />
        <Button
          disabled={chosen === ''}
          isBusy={add.isPending}
          onClick={() =>
            add.mutate(chosen, {
              onSuccess: () => {
                setChosen('');
                toast({ text: 'They are an operator now.' });
              },
            })
          }
        >
          Make an operator
        </Button>
      </div>
    </>
  );
}

function RemoveButton({ operator: { id, name } }: { operator: Operator }) {
  const [isOpen, setIsOpen] = useState(false);
  const remove = useChange({ method: 'DELETE', path: `/operators/${id}`, renews: ['/operators', '/me'] });
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Remove
      </Button>
      <Confirm
        title={
          <>
            Remove the operator <OuterText text={name} most={40} />?
          </>
        }
        verb="Remove"
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={remove.isPending}
        error={remove.error}
        confirm={() => remove.mutate(undefined, { onSuccess: () => setIsOpen(false) })}
      >
        <p>They stay a member of their workspaces. Operator tokens that they made are no operators any more.</p>
      </Confirm>
    </>
  );
}

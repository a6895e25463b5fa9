import { TextInput } from '@mantine/core';
import type { LimitedWorkspace, LimitUse, WorkspaceLimits } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Page, reading } from '../../api/queries.ts';
import { count } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { LimitTable } from '../../parts/limits/limit-table.tsx';
import { tellLimits } from '../../parts/limits/limit-words.ts';
import { Empty, LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { IdText, OuterText } from '../../parts/texts.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import styles from './system.module.css';

const REFRESH_MS = 30_000;

/** The limits of all workspaces, for the operator: those that are near or were changed, and any workspace by its id. */
export function LimitsTab() {
  const [chosen, setChosen] = useState('');
  const read = useQuery(
    reading<Page<LimitedWorkspace>>('/operator/limits', { query: { limit: 100 }, every: REFRESH_MS }),
  );
  const items = read.data?.items ?? [];
  return (
    <div className="stack">
      <Card title="Workspaces near a limit or with limits of their own" aside={read.data && count(items.length)}>
        {read.error !== null && (
          <ProblemNote error={read.error} what="The workspaces cannot be shown." retry={() => void read.refetch()} />
        )}
        {read.data === undefined ? (
          read.error === null && <LoadingRows />
        ) : items.length === 0 ? (
          <Empty title="No workspace is near a limit">
            A workspace that uses four fifths of a limit is listed here, and so is one whose limits you changed.
          </Empty>
        ) : (
          <WorkspaceTable items={items} choose={setChosen} />
        )}
        <FindWorkspace choose={setChosen} />
      </Card>
      {chosen !== '' && <ChosenWorkspace key={chosen} id={chosen} />}
    </div>
  );
}

function WorkspaceTable({ items, choose }: { items: readonly LimitedWorkspace[]; choose: (id: string) => void }) {
  return (
    <table className="folds">
      <thead>
        <tr>
          <th>Workspace</th>
          <th>Limits</th>
          <th>
            <span className="sr">Show</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map(({ workspaceId, name, limits }) => (
          <tr key={workspaceId}>
            <td>
              <OuterText text={name} most={40} />
              <span className="sub">
                <IdText id={workspaceId} />
              </span>
            </td>
            <td data-label="Limits">
              {tellLimits(limits)} {limits.map(({ title }) => title).join(', ')}
            </td>
            <td className="num">
              <Button small onClick={() => choose(workspaceId)}>
                Show limits
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function FindWorkspace({ choose }: { choose: (id: string) => void }) {
  const [id, setId] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    choose(id.trim());
  };
  return (
    <form className={`pad ${styles['find']}`} onSubmit={submit}>
      <TextInput
        label="Another workspace"
        description="The id begins with ws_ and stands in its audit log and in its API answers."
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        required
        maxLength={80}
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
      />
      <div>
        <Button type="submit">Show its limits</Button>
      </div>
    </form>
  );
}

function ChosenWorkspace({ id }: { id: string }) {
  const [changed, setChanged] = useState<LimitUse>();
  const path = `/operator/workspaces/${encodeURIComponent(id)}/limits`;
  const read = useQuery(reading<WorkspaceLimits>(path));
  return (
    <Card title="Limits of one workspace" aside={<IdText id={id} />}>
      {read.error !== null && <ProblemNote error={read.error} what="The limits of this workspace cannot be shown." />}
      {read.data === undefined ? (
        read.error === null && <LoadingRows rows={10} />
      ) : (
        <LimitTable limits={read.data.limits} change={setChanged} />
      )}
      {changed !== undefined && <LimitDialog limit={changed} path={path} close={() => setChanged(undefined)} />}
    </Card>
  );
}

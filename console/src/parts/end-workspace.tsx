import { PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../api/ask-control.ts';
import { useChange } from '../api/queries.ts';
import { duration } from '../format/times.ts';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { Note } from './note.tsx';
import { ProblemNote } from './problem-note.tsx';
import { OuterText, TimeText } from './texts.tsx';
import { toast } from './toasts.tsx';
import { useNow } from './use-now.ts';

type Ending = { name: string; endsAt: string | null };
/** `path` is that of the workspace itself, or of one of others for an operator. */
type EndProps = { workspace: Ending; path: string; renews: readonly string[] };

/** Deletes a workspace after its grace time, or brings it back within it. */
export function EndWorkspace({ workspace, path, renews }: EndProps) {
  return workspace.endsAt === null ? (
    <DeleteButton name={workspace.name} path={path} renews={renews} />
  ) : (
    <Countdown endsAt={workspace.endsAt} path={path} renews={renews} />
  );
}

function Countdown({ endsAt, path, renews }: Omit<EndProps, 'workspace'> & { endsAt: string }) {
  const left = Date.parse(endsAt) - useNow(10_000);
  const undo = useChange({ method: 'DELETE', path, renews });
  return (
    <div className="stack">
      <Note state="givenup" title={left > 0 ? `It is removed in ${duration(left)}` : 'It is being removed'}>
        on <TimeText at={endsAt} />. Until then its sources take no calls and its destinations wait. Export its
        configuration (<code>millrace export</code>) and its audit log meanwhile.
      </Note>
      {undo.error !== null && <ProblemNote error={undo.error} what="The deletion was not undone." />}
      {left > 0 && (
        <div className="btns">
          <Button
            look="ink"
            isBusy={undo.isPending}
            onClick={() => undo.mutate(undefined, { onSuccess: () => toast({ text: 'The workspace goes on.' }) })}
          >
            Undo the deletion
          </Button>
        </div>
      )}
    </div>
  );
}

type Input = { name: string; password: string };

function DeleteButton({ name, path, renews }: Omit<EndProps, 'workspace'> & { name: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const [password, setPassword] = useState('');
  const remove = useChange<Input>({ method: 'POST', path, body: (input) => input, renews });
  const close = () => {
    setIsOpen(false);
    setPassword('');
    remove.reset();
  };
  const isWrong = remove.error instanceof ApiError && remove.error.problem.code === 'wrong_password';
  return (
    <>
      <Button small look="danger" onClick={() => setIsOpen(true)}>
        Delete workspace…
      </Button>
      <Confirm
        title={
          <>
            Delete <OuterText text={name} most={40} />?
          </>
        }
        verb="Delete the workspace"
        typed={name}
        isReady={password !== ''}
        isOpen={isOpen}
        close={close}
        isBusy={remove.isPending}
        error={isWrong ? null : remove.error}
        confirm={() => remove.mutate({ name, password }, { onSuccess: close })}
      >
        <p>
          Its sources take no calls from now on, and its destinations wait. After the grace time, 14 days unless the
          installation has another one, everything of it is removed: events, deliveries, dead letters, profiles, members
          and the audit log. Until then you can undo it.
        </p>
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          value={password}
          error={isWrong ? 'This is not your current password.' : undefined}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      </Confirm>
    </>
  );
}

/** Deleting asks how the members go: told that they left, or told nothing. */
import { Radio } from '@mantine/core';
import type { Definition } from '@millrace/contract/control';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { DEFINITIONS } from '../../api/definitions.ts';
import { useChange } from '../../api/queries.ts';
import { counted } from '../../format/numbers.ts';
import { Code } from '../../parts/code.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { IdText, OuterText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';
import css from './audience.module.css';

type DeleteDialogProps = {
  definition: Definition;
  /** Names of those that are told. */
  destinations: readonly string[];
  isOpen: boolean;
  close(): void;
};
type Way = 'exit' | 'leave';

export function DeleteDialog({ definition, destinations, isOpen, close }: DeleteDialogProps) {
  const { id, key, kind, name, size } = definition;
  const [way, setWay] = useState<Way | undefined>();
  const navigate = useNavigate();
  const remove = useChange({
    method: 'DELETE',
    path: `${DEFINITIONS}/${id}?members=${way ?? 'leave'}`,
    renews: [DEFINITIONS],
  });
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        toast({ text: way === 'exit' ? 'It ends as soon as everybody is told.' : 'It is deleted.' });
        void navigate({ to: '/audiences' });
      },
    });
  const calls = counted(size * destinations.length, 'identify call');
  const users = counted(size, 'user');
  return (
    <Confirm
      title={
        <>
          Delete <OuterText text={name} most={40} />?
        </>
      }
      isOpen={isOpen}
      close={close}
      verb={way === 'exit' ? 'Tell them, then delete' : 'Delete without telling'}
      keep="Keep it"
      typed={id}
      isReady={way !== undefined}
      isBusy={remove.isPending}
      error={remove.error}
      confirm={confirm}
    >
      <p>
        It cannot be undone, and the key <code>{key}</code> is never used again. What should destinations know about the{' '}
        {users} in it?
      </p>
      <Radio.Group
        aria-label="How members go"
        value={way ?? ''}
        onChange={(next) => setWay(next === 'exit' ? 'exit' : 'leave')}
      >
        <div className={css.choice}>
          <Radio
            value="exit"
            label={kind === 'audience' ? 'Tell that everybody left' : 'Tell that nobody has a value'}
            description={
              destinations.length === 0
                ? 'No destination is attached, so nothing is sent.'
                : `${calls} to ${destinations.join(', ')}, then it is gone.`
            }
          />
          <Radio
            value="leave"
            label="Tell nothing"
            description={
              kind === 'audience'
                ? 'Nothing is sent. Destinations go on believing that these users are in it.'
                : 'Nothing is sent. Destinations keep the last values.'
            }
          />
        </div>
      </Radio.Group>
      {way === 'exit' && destinations.length > 0 && (
        <Code
          label="call that is sent"
          copies={false}
          text={JSON.stringify({
            type: 'identify',
            userId: '…',
            traits: { [key]: kind === 'audience' ? false : null },
          })}
        />
      )}
      <IdText id={id} />
    </Confirm>
  );
}

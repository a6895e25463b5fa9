import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { SecretChooser, type SecretMode } from '../../parts/destination/secret/secret-chooser.tsx';
import { secretProblem } from '../../parts/destination/secret/secret.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OverlapInput } from './overlap-input.tsx';

/** `secret` is empty when it was pasted: the person has it already. */
export type Rotated = { secret: string; previousValidUntil: string | null };

type Answer = { previousValidUntil: string | null };

type RotateDialogProps = { id: string; hasOne: boolean; made: string; close(): void; done(rotated: Rotated): void };

const DAY_HOURS = 24;

export function RotateDialog({ id, hasOne, made, close, done }: RotateDialogProps) {
  const [{ mode, secret }, setSecret] = useState<{ mode: SecretMode; secret: string }>({ mode: 'made', secret: made });
  const [overlapHours, setOverlapHours] = useState(DAY_HOURS);
  const rotate = useChange<{ sharedSecret: string; overlapHours: number }, Answer>({
    method: 'POST',
    path: `/destinations/${id}/rotate-secret`,
    body: (asked) => asked,
    renews: ['/destinations'],
  });
  const submit = () =>
    rotate.mutate(
      { sharedSecret: secret, overlapHours },
      {
        onSuccess: ({ previousValidUntil }) => done({ secret: mode === 'made' ? secret : '', previousValidUntil }),
      },
    );
  return (
    <Dialog title={hasOne ? 'Rotate the secret' : 'Set a secret'} isOpen close={close} size="lg">
      <div className="stack">
        <SecretChooser
          mode={mode}
          secret={secret}
          allowsNone={false}
          change={(nextMode, next) => setSecret({ mode: nextMode, secret: next })}
        />
        {hasOne && <OverlapInput hours={overlapHours} change={setOverlapHours} />}
        {hasOne && (
          <Note state="retrying" title="X-Signature has room for one signature.">
            It is made with the new secret at once: a receiver that checks it must have both secrets for that moment.
          </Note>
        )}
        {rotate.error !== null && <ProblemNote error={rotate.error} what="The secret was not changed." />}
        <div className="btns end">
          <Button onClick={close}>Keep the secret</Button>
          <Button look="ink" disabled={secretProblem(secret) !== undefined} isBusy={rotate.isPending} onClick={submit}>
            {hasOne ? 'Rotate' : 'Set the secret'}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

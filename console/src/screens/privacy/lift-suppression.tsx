import { TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import type { Deletion } from '../../parts/job/receipt.ts';
import { EarlierRequest } from './earlier-request.tsx';
import css from './privacy.module.css';

/** Later calls of the user are accepted again; erased data stays erased. */
export function LiftSuppression({ requests }: { requests: readonly Deletion[] }) {
  const [typed, setTyped] = useState('');
  const [asks, setAsks] = useState(false);
  const userId = typed.trim();
  const lift = useChange({
    method: 'POST',
    path: '/suppressions/lift',
    body: () => ({ userId }),
    renews: ['/suppressions', '/deletion-requests'],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    lift.reset();
    if (userId !== '') setAsks(true);
  };
  const shown = cutText(visible(userId), 40);
  return (
    <Card title="Lift a suppression">
      <div className="pad stack">
        <form className={css.form} onSubmit={submit}>
          <TextInput
            className={css.user ?? ''}
            label="User id"
            placeholder="u_48213"
            description="Millrace keeps only hashes of suppressed users, so it cannot list their ids."
            maxLength={1_000}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" disabled={userId === ''}>
            Lift…
          </Button>
        </form>
        <EarlierRequest userId={userId} requests={requests} />
      </div>
      <Confirm
        title={`Lift the suppression of ${shown}?`}
        isOpen={asks}
        close={() => setAsks(false)}
        verb={`Accept calls of ${shown}`}
        keep="Keep it suppressed"
        isBusy={lift.isPending}
        error={lift.error}
        confirm={() =>
          lift.mutate(undefined, {
            onSuccess: () => {
              toast({ text: `Millrace accepts calls of ${shown} again.` });
              setAsks(false);
              setTyped('');
            },
          })
        }
      >
        <p>
          Millrace accepts later calls with this id within a second, in all sources. Erased and dropped data stays so.
          To suppress the user again, make a new deletion request.
        </p>
      </Confirm>
    </Card>
  );
}

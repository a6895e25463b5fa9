import type { Source } from '@millrace/contract/control';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { renew, useChange } from '../../api/queries.ts';
import { counted } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';
import type { DestinationOf } from './settings-page.tsx';

type DeleteSourceProps = { source: Source; destinations: readonly DestinationOf[] };

export function DeleteSource({ source, destinations }: DeleteSourceProps) {
  const [isAsking, setIsAsking] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  // Lists are renewed only after this page is left: it would read the source once more.
  const remove = useChange({ method: 'DELETE', path: `/sources/${source.id}` });
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        toast({ text: 'The source is deleted.' });
        void navigate({ to: '/sources' }).then(() => renew(client, ['/sources', '/destinations', '/overview']));
      },
    });
  return (
    <Card title="Delete the source">
      <div className="pad stack">
        <p className="soft">With its write keys and its destinations. To stop calls for a while, disable it instead.</p>
        <div className="btns">
          <Button look="danger" onClick={() => setIsAsking(true)}>
            Delete source…
          </Button>
        </div>
      </div>
      {isAsking && (
        <Confirm
          title="Delete the source"
          isOpen
          close={() => setIsAsking(false)}
          verb={`Delete ${source.id.slice(0, 4)}…${source.id.slice(-6)}`}
          typed={source.id}
          isBusy={remove.isPending}
          error={remove.error}
          confirm={confirm}
        >
          <p>
            Millrace deletes <OuterText text={source.name} most={60} />, its{' '}
            {counted(source.writeKeys.length, 'write key')} and{' '}
            {destinations.length === 0 ? 'no destination' : counted(destinations.length, 'destination')}. Collect
            refuses its calls, and no delivery of it is attempted any more. You cannot undo this.
          </p>
          {destinations.length > 0 && (
            <ul>
              {destinations.slice(0, 5).map(({ id, name }) => (
                <li key={id}>
                  <OuterText text={name} most={60} />
                </li>
              ))}
              {destinations.length > 5 && <li className="dim">and {destinations.length - 5} more</li>}
            </ul>
          )}
        </Confirm>
      )}
    </Card>
  );
}

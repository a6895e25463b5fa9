import type { Destination } from '@millrace/contract/control';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { IdText, OuterText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';

/** Cannot be undone, so it asks for the id. */
export function DeleteCard({ destination, leave }: { destination: Destination; leave(): void }) {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const remove = useChange({ method: 'DELETE', path: `/destinations/${destination.id}` });
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        leave();
        toast({ text: 'The destination is deleted.' });
        void navigate({ to: '/destinations' });
      },
    });
  return (
    <Card title="Delete">
      <div className="pad stack">
        <p className="soft">
          Millrace stops sending at once and gives up what still waits for it. What was delivered stays in the log. To
          stop for a while, pause it.
        </p>
        <div className="btns">
          <Button look="danger" onClick={() => setIsOpen(true)}>
            Delete the destination
          </Button>
          <IdText id={destination.id} />
        </div>
      </div>
      <Confirm
        title={
          <>
            Delete <OuterText text={destination.name} most={40} />?
          </>
        }
        verb="Delete the destination"
        keep="Keep it"
        typed={destination.id}
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={remove.isPending}
        error={remove.error}
        confirm={confirm}
      >
        <p>It cannot be undone: its targets, headers, filters and secret are gone, and what waits is given up.</p>
        <IdText id={destination.id} />
      </Confirm>
    </Card>
  );
}

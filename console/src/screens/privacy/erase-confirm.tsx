import type { NewDeletion } from '@millrace/contract/control';
import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/queries.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import type { Deletion } from '../../parts/job/receipt.ts';
import { TouchedFacts } from './touched-facts.tsx';
import type { Sought } from './use-touched.ts';

type EraseConfirmProps = {
  sought: Sought;
  request: Omit<NewDeletion, 'userIds'>;
  isOpen: boolean;
  close(): void;
};

/** Erasing cannot be undone: the person types the id, and the button repeats it. */
export function EraseConfirm({ sought, request, isOpen, close }: EraseConfirmProps) {
  const { userId } = sought;
  const navigate = useNavigate();
  const erase = useChange<void, Deletion>({
    method: 'POST',
    path: '/deletion-requests',
    body: () => ({ ...request, userIds: [userId] }),
    renews: ['/deletion-requests', '/deliveries', '/dead-letters', '/stored-events'],
  });
  const begin = () =>
    erase.mutate(undefined, {
      onSuccess: ({ id }) => {
        toast({ text: 'Millrace erases the user.' });
        void navigate({ to: '/privacy/$id', params: { id } });
      },
    });
  const shown = cutText(visible(userId), 40);
  return (
    <Confirm
      title={`Erase ${shown}?`}
      isOpen={isOpen}
      close={close}
      verb={`Erase ${shown}`}
      typed={userId}
      isBusy={erase.isPending}
      error={erase.error}
      confirm={begin}
    >
      <TouchedFacts sought={sought} />
      <p>
        {request.suppress === true && 'Millrace drops later calls with this id. '}
        <b>This cannot be undone.</b>
      </p>
    </Confirm>
  );
}

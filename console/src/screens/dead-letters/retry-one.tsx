import { useChange } from '../../api/queries.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';

/** One letter is sent again after the person has read what that means. */
export function RetryOne({ id, close }: { id: string | undefined; close(isSent: boolean): void }) {
  const retry = useChange<string>({
    method: 'POST',
    path: (letter) => `/dead-letters/${encodeURIComponent(letter)}/retry`,
    renews: ['/dead-letters', '/deliveries', '/overview'],
  });
  return (
    <Confirm
      title="Retry 1 delivery?"
      isOpen={id !== undefined}
      close={() => close(false)}
      verb="Retry 1 delivery"
      keep="Keep it as a dead letter"
      isBusy={retry.isPending}
      error={retry.error}
      confirm={() => {
        if (id === undefined) return;
        retry.mutate(id, {
          onSuccess: () => {
            toast({ text: 'Millrace sends it again now.' });
            close(true);
          },
        });
      }}
    >
      <p>
        Millrace attempts it again for up to four hours. Receivers may see a duplicate; the webhook-id stays the same. A
        target that has already accepted it does not get it again.
      </p>
    </Confirm>
  );
}

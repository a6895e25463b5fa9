import type { DeadLetterItem, DeliveryDetails, RetryNow } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Page, reading, useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { localSentence } from '../../format/sentences.ts';
import { Button } from '../button.tsx';
import { Confirm } from '../dialog.tsx';
import { toast } from '../toasts.tsx';
import { tellError } from '../tell-error.ts';

const RENEWS = ['/deliveries', '/destinations', '/dead-letters', '/overview'];

/** An attempt before its time for a delivery that waits; a new start for a dead letter. */
export function RetryButton({ delivery }: { delivery: DeliveryDetails }) {
  const { state } = delivery;
  if (state === 'pending' || state === 'retrying') return <AttemptNow id={delivery.id} />;
  if (state === 'discarded' || state === 'expired') return <SendAgain delivery={delivery} />;
  return null;
}

function AttemptNow({ id }: { id: string }) {
  const may = useMay('destinations:write');
  const retry = useChange<void, RetryNow>({
    method: 'POST',
    path: `/deliveries/${encodeURIComponent(id)}/retry`,
    renews: RENEWS,
  });
  if (!may) return null;
  const start = () =>
    retry.mutate(undefined, {
      onSuccess: ({ sentence }) => toast({ text: localSentence(sentence) }),
      onError: tellError,
    });
  return (
    <Button look="ink" isBusy={retry.isPending} onClick={start}>
      Retry now
    </Button>
  );
}

const LOOKED_MS = 600_000;

function SendAgain({ delivery }: { delivery: DeliveryDetails }) {
  const [isOpen, setIsOpen] = useState(false);
  const may = useMay('dead-letters:write');
  const letter = useLetter(delivery, may);
  const retry = useChange<string>({
    method: 'POST',
    path: (id) => `/dead-letters/${encodeURIComponent(id)}/retry`,
    renews: RENEWS,
  });
  if (!may || letter === undefined) return null;
  return (
    <>
      <Button look="ink" onClick={() => setIsOpen(true)}>
        Send again…
      </Button>
      <Confirm
        title="Send this delivery again"
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        verb="Send again"
        keep="Leave it"
        isBusy={retry.isPending}
        error={retry.error ?? undefined}
        confirm={() =>
          retry.mutate(letter.id, {
            onSuccess: () => {
              setIsOpen(false);
              toast({ text: 'Sent again: it has four hours from its first attempt.' });
            },
          })
        }
      >
        <p>
          One dead letter goes through the lane of its destination, with four hours of retries. The receiver may see a
          duplicate; the webhook-id stays the same. A target that has taken it does not get it again.
        </p>
      </Confirm>
    </>
  );
}

/** A delivery does not know its dead letter: the letter was made right after the last attempt. */
function useLetter({ id, destinationId, lastAttemptAt, receivedAt }: DeliveryDetails, enabled: boolean) {
  const at = Date.parse(lastAttemptAt ?? receivedAt);
  const query = {
    destinationId,
    from: new Date(at - 1_000).toISOString(),
    to: new Date(at + LOOKED_MS).toISOString(),
    limit: 100,
  };
  const { data } = useQuery(reading<Page<DeadLetterItem>>('/dead-letters', { query, enabled }));
  return data?.items.find(({ deliveryId }) => deliveryId === id);
}

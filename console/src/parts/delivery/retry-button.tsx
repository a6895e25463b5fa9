import type { DeadLetterItem, DeliveryDetails, RetryNow } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { askControl, currentWorkspace } from '../../api/ask-control.ts';
import { type Page, useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { localSentence } from '../../format/sentences.ts';
import { Button, LinkButton } from '../button.tsx';
import { Confirm } from '../dialog.tsx';
import { toast } from '../toasts.tsx';
import { tellError } from '../tell-error.ts';
import { seekLetter } from './seek-letter.ts';

const RENEWS = ['/deliveries', '/destinations', '/dead-letters', '/overview'];

type RetryButtonProps = { delivery: DeliveryDetails; onSentAgain?: (() => void) | undefined };

/** An attempt before its time for a delivery that waits; a new start for a dead letter. */
export function RetryButton({ delivery, onSentAgain }: RetryButtonProps) {
  const { state } = delivery;
  if (state === 'pending' || state === 'retrying') return <AttemptNow id={delivery.id} />;
  const isGivenUp = state === 'discarded' || state === 'expired';
  return isGivenUp && !hasNoLetter(delivery) ? <SendAgain delivery={delivery} onSentAgain={onSentAgain} /> : null;
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

/** Millrace made none, or erased it with its user. */
function hasNoLetter({ reason, isErased }: DeliveryDetails): boolean {
  return isErased || reason === 'destination_deleted' || reason === 'letter_refused';
}

function SendAgain({ delivery, onSentAgain }: RetryButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  const may = useMay('dead-letters:write');
  const sought = useLetter(delivery, may);
  const retry = useChange<string>({
    method: 'POST',
    path: (id) => `/dead-letters/${encodeURIComponent(id)}/retry`,
    renews: RENEWS,
  });
  if (!may || sought === undefined) return null;
  const { letter, hasMore } = sought;
  if (letter === undefined) {
    return hasMore ? (
      <LinkButton to="/dead-letters" search={{ destinationId: delivery.destinationId }}>
        Dead letters of the destination
      </LinkButton>
    ) : null;
  }
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
              onSentAgain?.();
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

/** Millrace makes the letter after the last attempt; in an outage, long after it. */
function useLetter({ id, destinationId, lastAttemptAt, receivedAt }: DeliveryDetails, enabled: boolean) {
  const from = new Date(Date.parse(lastAttemptAt ?? receivedAt) - 1_000).toISOString();
  return useQuery({
    queryKey: [currentWorkspace() ?? '', '/dead-letters', 'of a delivery', id, from],
    enabled,
    queryFn: ({ signal }) =>
      seekLetter(id, (cursor) =>
        askControl<Page<DeadLetterItem>>('/dead-letters', {
          query: { destinationId, from, limit: 100, cursor },
          signal,
        }),
      ),
  }).data;
}

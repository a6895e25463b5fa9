/** One delivery: how often Millrace tried, the answers, the next attempt and the end; then the exact request and response. */
import type { DeliveryDetails, Destination, DestinationHealth } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { reading } from '../../api/queries.ts';
import { cutText, shortId, visible } from '../../format/texts.ts';
import { useDelivery } from '../../parts/delivery/use-delivery.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Page } from '../../shell/page.tsx';
import { AttemptList } from './attempt-list.tsx';
import { AttemptCard } from './attempt-card.tsx';
import { DeliveryFacts } from './delivery-facts.tsx';
import { DeliveryLead } from './delivery-lead.tsx';
import styles from './delivery.module.css';
import { NoAttemptCard } from './no-attempt-card.tsx';
import { RequestCard } from './request-card.tsx';
import { ResponseCard } from './response-card.tsx';
import { RulerCard } from './ruler-card.tsx';
import { useChosen } from './use-chosen.ts';

export function DeliveryScreen() {
  const { id } = useParams({ from: '/shell/deliveries/$id' });
  const { read, onSentAgain } = useDelivery(id);
  const delivery = read.data;
  const destinationId = delivery?.destinationId ?? '';
  const destination = useQuery(
    reading<Destination>(`/destinations/${destinationId}`, { enabled: delivery !== undefined }),
  ).data;
  const above = [
    { name: 'Deliveries', to: '/deliveries' as const },
    ...(destination === undefined
      ? []
      : [
          {
            name: cutText(visible(destination.name), 60),
            to: '/destinations/$id' as const,
            params: { id: destination.id },
          },
        ]),
  ];
  return (
    <Page title={`Delivery ${shortId(id).replace('dlv_', '')}`} above={above}>
      {delivery === undefined ? (
        read.error === null ? (
          <LoadingRows />
        ) : (
          <ProblemNote error={read.error} what="The delivery cannot be shown." retry={() => void read.refetch()} />
        )
      ) : (
        <Shown delivery={delivery} destination={destination} onSentAgain={onSentAgain} />
      )}
    </Page>
  );
}

type ShownProps = { delivery: DeliveryDetails; destination: Destination | undefined; onSentAgain(): void };

function Shown({ delivery, destination, onSentAgain }: ShownProps) {
  const isOpen = delivery.state === 'pending' || delivery.state === 'retrying';
  const health = useQuery(
    reading<DestinationHealth>(`/destinations/${delivery.destinationId}/health`, { every: 5_000, enabled: isOpen }),
  ).data;
  const lane = isOpen ? (health?.lane ?? null) : null;
  const chosen = useChosen(delivery);
  return (
    <>
      <DeliveryLead
        delivery={delivery}
        destination={destination}
        lane={lane}
        chosen={chosen}
        onSentAgain={onSentAgain}
      />
      <DeliveryFacts delivery={delivery} destination={destination} />
      <RulerCard delivery={delivery} lane={lane} />
      {chosen === undefined ? (
        <NoAttemptCard delivery={delivery} lane={lane} />
      ) : (
        <div className={`mt ${styles['columns']}`}>
          <AttemptList delivery={delivery} chosen={chosen} />
          <div className="stack">
            <AttemptCard chosen={chosen} isErased={delivery.isErased} />
            <RequestCard delivery={delivery} destination={destination} chosen={chosen} />
            <ResponseCard chosen={chosen} isErased={delivery.isErased} />
          </div>
        </div>
      )}
    </>
  );
}

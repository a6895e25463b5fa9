import type { DeliveryDetails, Lane } from '@millrace/contract/control';
import { counted } from '../../format/numbers.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/list-states.tsx';

/** In place of attempts, for a delivery that was skipped or has not had its turn. */
export function NoAttemptCard({ delivery, lane }: { delivery: DeliveryDetails; lane: Lane | null }) {
  const { state, destinationId: id } = delivery;
  const isSkipped = state === 'skipped';
  return (
    <div className="mt">
      <Card>
        <Empty
          title="No attempt"
          action={
            <LinkButton to={isSkipped ? '/destinations/$id/settings' : '/destinations/$id'} params={{ id }}>
              {isSkipped ? 'Filters of the destination' : 'Open the destination'}
            </LinkButton>
          }
        >
          {isSkipped
            ? 'Millrace decided before any attempt that this event does not go to this destination. The page of the event shows all its destinations.'
            : `${lane === null ? 'It' : `${counted(lane.depth, 'delivery waits', 'deliveries wait')} in this lane, and it`} takes its turn. The four hours of retries begin with the first attempt; each attempt then stands here with its request and its answers.`}
        </Empty>
      </Card>
    </div>
  );
}

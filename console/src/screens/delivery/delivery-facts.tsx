import { useMay } from '../../api/session.tsx';
import type { DeliveryDetails, Destination } from '@millrace/contract/control';
import { UserLink } from '../../parts/audience/user-link.tsx';
import { eventName } from '../../parts/delivery/delivery-words.ts';
import { IdText, OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import styles from './delivery.module.css';

type DeliveryFactsProps = { delivery: DeliveryDetails; destination: Destination | undefined };

export function DeliveryFacts({ delivery, destination }: DeliveryFactsProps) {
  const { id, type, name, userId, anonymousId, receivedAt, destinationId, messageId, replayId } = delivery;
  const maySee = useMay('payloads:read');
  const user = userId ?? anonymousId;
  return (
    <dl className={`mt2 ${styles['facts']}`}>
      <div>
        <dt>Event</dt>
        <dd>
          <OuterText text={eventName(delivery)} /> {name !== null && <span className="dim">{type}</span>}
        </dd>
      </div>
      <div>
        <dt>User</dt>
        <dd className="mono">
          {user === null ? (
            <span className="dim">{maySee ? 'none' : 'not shown to your role'}</span>
          ) : (
            <UserLink userId={userId} anonymousId={anonymousId} most={40} />
          )}
        </dd>
      </div>
      <div>
        <dt>Received</dt>
        <dd>
          <TimeText at={receivedAt} withDistance />
        </dd>
      </div>
      <div>
        <dt>webhook-id</dt>
        <dd>
          <IdText id={id} />
        </dd>
      </div>
      <div>
        <dt>messageId</dt>
        <dd>
          <IdText id={messageId} />
        </dd>
      </div>
      <div>
        <dt>Destination</dt>
        <dd>
          <OuterLink
            text={destination?.name ?? destinationId}
            most={40}
            to="/destinations/$id"
            params={{ id: destinationId }}
          />
        </dd>
      </div>
      {replayId !== null && (
        <div>
          <dt>Sent again by</dt>
          <dd>
            <IdText id={replayId} />
          </dd>
        </div>
      )}
    </dl>
  );
}

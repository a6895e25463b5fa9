import type { Delivery } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Page, reading } from '../../api/queries.ts';
import { eventName } from '../../parts/delivery/delivery-words.ts';
import { count } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { DeliveryState } from '../../parts/delivery/delivery-state.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import styles from './destination.module.css';

const SHOWN = 6;

export function LatestCard({ destinationId }: { destinationId: string }) {
  const read = useQuery(
    reading<Page<Delivery>>('/deliveries', { query: { destinationId, limit: SHOWN }, every: 5_000 }),
  );
  const items = read.data?.items ?? [];
  return (
    <Card
      title="Latest deliveries"
      right={
        <Link className="small" to="/destinations/$id/deliveries" params={{ id: destinationId }}>
          All deliveries
        </Link>
      }
    >
      <ListStates
        read={read}
        failed="The deliveries cannot be shown."
        isEmpty={items.length === 0}
        empty={
          <Empty title="No delivery yet">
            Each event of the source that passes the filters becomes a delivery, and stands here with its answers.
          </Empty>
        }
      >
        <table className={styles['rows']}>
          <thead>
            <tr>
              <th>Received</th>
              <th>Event</th>
              <th>User</th>
              <th>State</th>
              <th className="num">Attempts</th>
              <th className="num">Next attempt</th>
            </tr>
          </thead>
          <tbody>
            {items.map((delivery) => (
              <Row key={delivery.id} delivery={delivery} />
            ))}
          </tbody>
        </table>
      </ListStates>
    </Card>
  );
}

function Row({ delivery }: { delivery: Delivery }) {
  const { id, receivedAt, userId, anonymousId, attempts, nextAt } = delivery;
  const user = userId ?? anonymousId;
  return (
    <tr>
      <td className="nowrap">
        <TimeText at={receivedAt} />
      </td>
      <td>
        <OuterLink text={eventName(delivery)} most={32} to="/deliveries/$id" params={{ id }} />
      </td>
      <td className="mono">{user === null ? <span className="dim">–</span> : <OuterText text={user} most={24} />}</td>
      <td>
        <DeliveryState delivery={delivery} />
      </td>
      <td className="num">{count(attempts)}</td>
      <td className="num dim">
        {nextAt !== null ? <TimeText at={nextAt} /> : delivery.state === 'pending' ? 'in its turn' : '–'}
      </td>
    </tr>
  );
}

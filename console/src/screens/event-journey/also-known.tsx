import type { Explanation } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../api/session.tsx';
import { Card, Facts } from '../../parts/card.tsx';
import { IdText } from '../../parts/texts.tsx';
import type { StoredItem } from './use-stored-call.ts';

/** The ways from here to other screens. */
export function AlsoKnown({ explanation, item }: { explanation: Explanation; item: StoredItem | undefined }) {
  const maySeeProfiles = useMay('profiles:read');
  const { messageId, destinations } = explanation;
  const [first] = destinations;
  const sourceId = first?.sourceId ?? item?.sourceId;
  const userId = first?.userId ?? undefined;
  return (
    <Card title="From here">
      <div className="pad stack">
        <Facts
          facts={[
            ['messageId', <IdText key="m" id={messageId} />],
            ...(sourceId === undefined ? [] : [['Source', <IdText key="s" id={sourceId} />] as const]),
          ]}
        />
        <ul className="soft">
          <li>
            <Link to="/deliveries" search={{ messageId }}>
              Deliveries of this event
            </Link>
          </li>
          {userId !== undefined && maySeeProfiles && (
            <li>
              <Link to="/profiles/$userId" params={{ userId }}>
                Profile of this user
              </Link>
            </li>
          )}
          {userId !== undefined && sourceId !== undefined && (
            <li>
              <Link to="/events" search={{ sourceId, userId }}>
                Stored events of this user
              </Link>
            </li>
          )}
          {sourceId !== undefined && first?.name !== null && first !== undefined && (
            <li>
              <Link to="/events" search={{ sourceId, name: first.name }}>
                Stored events with this name
              </Link>
            </li>
          )}
        </ul>
        <p className="small dim">
          The record is about a second behind. A receiver sees the same webhook-id for every attempt and every replay.
        </p>
      </div>
    </Card>
  );
}

import { Link } from '@tanstack/react-router';
import { visible } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { nameOf, receivedAtOf, type StoredItem, textOf } from '../../parts/stored-events/stored-events.ts';

const COLUMNS = [
  { name: 'Event' },
  { name: 'Received' },
  { name: 'User' },
  { name: 'messageId', isWide: true },
  { name: 'Open', isHidden: true },
];

type EventRowsProps = {
  items: readonly StoredItem[];
  sourceId: string;
  shown: string | undefined;
  show(messageId: string): void;
};

export function EventRows({ items, sourceId, shown, show }: EventRowsProps) {
  return (
    <RowTable label="Stored events" columns={COLUMNS}>
      {items.map((item, place) => {
        const messageId = textOf(item.event, 'messageId') ?? '';
        return (
          <Row key={`${messageId} ${place}`} isSelected={shown === messageId} open={() => show(messageId)}>
            <td>
              <OuterLink
                to="/events/$messageId"
                params={{ messageId }}
                search={{ sourceId }}
                text={nameOf(item.event)}
                most={40}
              />
              {nameOf(item.event) !== textOf(item.event, 'type') && (
                <span className="dim small"> {textOf(item.event, 'type')}</span>
              )}
            </td>
            <td className="nowrap">
              <TimeText at={receivedAtOf(item)} />
            </td>
            <td>
              <User item={item} sourceId={sourceId} />
            </td>
            <td className="m-hide mono dim">
              <OuterText text={messageId} most={40} />
            </td>
            <td className="num">
              <Button
                small
                look="quiet"
                onClick={() => show(messageId)}
                aria-label={`Details of ${visible(messageId)}`}
              >
                Details
              </Button>
            </td>
          </Row>
        );
      })}
    </RowTable>
  );
}

function User({ item, sourceId }: { item: StoredItem; sourceId: string }) {
  const userId = textOf(item.event, 'userId');
  if (userId !== undefined)
    return (
      <Link className="mono" to="/events" search={{ sourceId, userId }}>
        <OuterText text={userId} most={32} />
      </Link>
    );
  const anonymousId = textOf(item.event, 'anonymousId');
  if (anonymousId === undefined) return <span className="dim">none</span>;
  return (
    <span className="dim">
      <OuterText text={anonymousId} most={32} /> <span className="small">anonymous</span>
    </span>
  );
}

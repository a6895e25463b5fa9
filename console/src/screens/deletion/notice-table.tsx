import { Link } from '@tanstack/react-router';
import { Card } from '../../parts/card.tsx';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { type Deletion, noticeWords, standingOfNotice } from '../../parts/job/receipt.ts';

const COLUMNS = [{ name: 'Destination' }, { name: 'State' }, { name: 'Told' }, { name: 'Delivery', isHidden: true }];

/** Each destination gets a `delete` notification, with the same guarantees as any event. */
export function NoticeTable({ deletion, nameOf }: { deletion: Deletion; nameOf(id: string): string }) {
  const { notifications } = deletion.receipt;
  return (
    <Card title="Destinations" aside={noticeWords(deletion)}>
      {notifications.length === 0 ? (
        <p className="pad soft">
          {deletion.state === 'running'
            ? 'Millrace has not told a destination yet.'
            : 'The sources had no enabled destination when the request came.'}
        </p>
      ) : (
        <RowTable label="Notifications of destinations" columns={COLUMNS}>
          {notifications.map((notice) => (
            <Row key={notice.deliveryId}>
              <td>
                <OuterText text={nameOf(notice.destinationId)} most={40} />
                <span className="sub">
                  of <OuterText text={nameOf(notice.sourceId)} most={40} />
                </span>
              </td>
              <td>
                <StateText state={standingOfNotice(notice).state}>{standingOfNotice(notice).word}</StateText>
                {notice.status !== null && <span className="sub">answered {notice.status}</span>}
              </td>
              <td>
                <TimeText at={notice.sentAt} />
              </td>
              <td className="num">
                <Link to="/deliveries/$id" params={{ id: notice.deliveryId }}>
                  Open delivery
                </Link>
              </td>
            </Row>
          ))}
        </RowTable>
      )}
    </Card>
  );
}

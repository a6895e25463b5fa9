import { count } from '../../format/numbers.ts';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { nameOf, textOf } from '../../parts/stored-events/stored-events.ts';

const COLUMNS = [{ name: 'Event' }, { name: 'Received' }, { name: 'User' }, { name: 'Type' }];

type FirstEventsProps = { events: readonly Record<string, unknown>[]; all: number };

export function FirstEvents({ events, all }: FirstEventsProps) {
  if (events.length === 0) return null;
  return (
    <section>
      <h3 className="small dim">
        {all > events.length
          ? `The first ${events.length} of ${count(all)}, oldest first`
          : 'All of them, oldest first'}
      </h3>
      <RowTable label="The first events of the replay" columns={COLUMNS}>
        {events.map((event) => {
          const messageId = textOf(event, 'messageId') ?? '';
          const receivedAt = textOf(event, 'receivedAt');
          return (
            <Row key={messageId}>
              <td>
                <OuterLink to="/events/$messageId" params={{ messageId }} text={nameOf(event)} most={40} />
              </td>
              <td>{receivedAt !== undefined && <TimeText at={receivedAt} />}</td>
              <td className="mono">
                <OuterText text={textOf(event, 'userId') ?? textOf(event, 'anonymousId') ?? '–'} most={32} />
              </td>
              <td>{textOf(event, 'type')}</td>
            </Row>
          );
        })}
      </RowTable>
    </section>
  );
}

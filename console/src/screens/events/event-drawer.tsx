import { UserLink } from '../../parts/audience/user-link.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Facts } from '../../parts/card.tsx';
import { Json } from '../../parts/code.tsx';
import { SideDrawer } from '../../parts/dialog.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import { nameOf, receivedAtOf, type StoredItem, textOf } from '../../parts/stored-events/stored-events.ts';

type EventDrawerProps = { item: StoredItem | undefined; sourceId: string; close(): void };

/** One stored event with the call itself, and the way to its journey. */
export function EventDrawer({ item, sourceId, close }: EventDrawerProps) {
  return (
    <SideDrawer
      title={item === undefined ? 'Event' : <OuterText text={nameOf(item.event)} />}
      isOpen={item !== undefined}
      close={close}
    >
      {item !== undefined && <Details item={item} sourceId={sourceId} />}
    </SideDrawer>
  );
}

function Details({ item, sourceId }: { item: StoredItem; sourceId: string }) {
  const { event, storedAt } = item;
  const messageId = textOf(event, 'messageId');
  const userId = textOf(event, 'userId');
  const happenedAt = textOf(event, 'timestamp');
  return (
    <div className="stack">
      <Facts
        facts={[
          ['Type', textOf(event, 'type') ?? 'unknown'],
          ...(userId === undefined ? [] : [['User', <UserLink key="u" userId={userId} most={60} />] as const]),
          ...(happenedAt === undefined ? [] : [['Happened', <TimeText key="h" at={happenedAt} />] as const]),
          ['Received', <TimeText key="r" at={receivedAtOf(item)} withDistance />],
          ['Stored', <TimeText key="s" at={storedAt} />],
          ...(messageId === undefined ? [] : [['messageId', <IdText key="m" id={messageId} />] as const]),
        ]}
      />
      {messageId !== undefined && (
        <div className="btns">
          <LinkButton to="/events/$messageId" params={{ messageId }} search={{ sourceId }}>
            Open its journey
          </LinkButton>
          <LinkButton look="quiet" to="/deliveries" search={{ messageId }}>
            Its deliveries
          </LinkButton>
        </div>
      )}
      <Json value={event} label="the call as stored" foldsAfter={60} />
    </div>
  );
}

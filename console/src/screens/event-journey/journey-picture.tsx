/** The way of an event as a picture: received, rules, destination, attempts. */
import type { Destination, Explanation, Source } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import type { Page } from '../../api/queries.ts';
import { nameIn } from '../../format/names.ts';
import { bytes } from '../../format/numbers.ts';
import { visible } from '../../format/texts.ts';
import { Facts } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { StateBadge } from '../../parts/state-mark.tsx';
import { IdText, OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { DestinationRow } from './destination-row.tsx';
import css from './event-journey.module.css';
import type { StoredItem } from './use-stored-call.ts';
import { inOrder, type JourneyPart } from './verdict.ts';

type PictureProps = {
  explanation: Explanation;
  stored: StoredItem | undefined;
  sources: Page<Source> | undefined;
  destinations: readonly Destination[];
};

export function JourneyPicture({ explanation, stored, sources, destinations }: PictureProps) {
  const parts = inOrder(explanation.destinations);
  const [first] = parts;
  return (
    <section className="mt2" aria-label="The way of the event">
      <div className={css.head} aria-hidden="true">
        <span>1. Received</span>
        <span>2. Rules</span>
        <span>3. Destination</span>
        <span>
          4. Attempts <span className="dim">from the first to the end of 4 hours</span>
        </span>
      </div>
      <div className={css.body}>
        {first !== undefined && <Received part={first} stored={stored} sources={sources} />}
        <ul className={css.rows}>
          {parts.map((part) => (
            <DestinationRow
              key={part.id}
              part={part}
              destination={destinations.find(({ id }) => id === part.destinationId)}
              event={stored?.event}
            />
          ))}
        </ul>
      </div>
    </section>
  );
}

type ReceivedProps = { part: JourneyPart; stored: StoredItem | undefined; sources: PictureProps['sources'] };

function Received({ part, stored, sources }: ReceivedProps) {
  return (
    <div className={`card ${css.received}`}>
      <div className="pad">
        <p className={css.source}>
          <b>
            <OuterLink
              to="/sources/$id"
              params={{ id: part.sourceId }}
              text={nameIn(sources, part.sourceId, 'A deleted source')}
            />
          </b>
          <StateBadge state="delivered">Accepted</StateBadge>
        </p>
        <p className="dim small">source</p>
        <div className="small mt">
          <Facts facts={factsOf(part, stored)} />
        </div>
      </div>
    </div>
  );
}

function factsOf(part: JourneyPart, stored: StoredItem | undefined) {
  const { name, type, userId, anonymousId, receivedAt, messageId } = part;
  const happenedAt = stored?.event.timestamp;
  const sender = senderOf(stored);
  return [
    ...(name === null ? [] : [['Event', <OuterText key="e" text={name} />] as const]),
    ['Type', type] as const,
    ...(userId === null ? [] : [['User', <UserLink key="u" userId={userId} />] as const]),
    ...(anonymousId === null ? [] : [['Anonymous', <IdText key="a" id={anonymousId} />] as const]),
    ...(isTime(happenedAt) ? [['Happened', <TimeText key="h" at={happenedAt} toMs />] as const] : []),
    ['Received', <TimeText key="r" at={receivedAt} toMs />] as const,
    ...(stored === undefined ? [] : [['Size', bytes(JSON.stringify(stored.event).length)] as const]),
    ...(sender === undefined ? [] : [['Sent by', <OuterText key="s" text={sender} />] as const]),
    ['messageId', <MessageId key="m" id={messageId} />] as const,
  ];
}

/** The end of a messageId tells it from others; the card is too narrow for more. */
function MessageId({ id }: { id: string }) {
  return (
    <span className="id">
      <bdi title={visible(id)}>{id.length > 14 ? `…${visible(id.slice(-8))}` : visible(id)}</bdi>
      <CopyButton text={id} label="Copy the messageId" />
    </span>
  );
}

function UserLink({ userId }: { userId: string }) {
  return (
    <Link to="/deliveries" search={{ userId }} className="mono" title="Deliveries of this user">
      <OuterText text={userId} most={24} />
    </Link>
  );
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

/** The library that sent the call, if the call names it. */
function senderOf(stored: StoredItem | undefined): string | undefined {
  const context = stored?.event.context as { library?: { name?: unknown; version?: unknown } } | undefined;
  const { name, version } = context?.library ?? {};
  if (typeof name !== 'string') return undefined;
  return typeof version === 'string' ? `${name} ${version}` : name;
}

/** Picks one stored event of a source. */
import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readingPages } from '../../../api/queries.ts';
import { SideDrawer } from '../../dialog.tsx';
import { Empty, ListStates, NoMatch, Older } from '../../list-states.tsx';
import { OuterText, TimeText } from '../../texts.tsx';
import look from '../destination.module.css';
import { eventName } from '../filters/preview-words.ts';

type StoredEventItem = { storedAt: string; event: Record<string, unknown> };

type StoredEventsProps = {
  sourceId: string;
  isOpen: boolean;
  close(): void;
  choose(event: Record<string, unknown>): void;
};

export function StoredEvents({ sourceId, isOpen, close, choose }: StoredEventsProps) {
  const [text, setText] = useState('');
  const [wanted] = useDebouncedValue(text.trim(), 400);
  const read = useInfiniteQuery(
    readingPages<StoredEventItem>('/stored-events', {
      query: { sourceId, limit: 30, ...(wanted === '' ? {} : { text: wanted.slice(0, 200) }) },
      enabled: isOpen,
    }),
  );
  const items = read.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <SideDrawer title="Load a stored event" isOpen={isOpen} close={close}>
      <TextInput
        label="Text anywhere in the event"
        placeholder="Order Completed, u_48213, …"
        value={text}
        data-autofocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ListStates
        read={read}
        failed="The stored events cannot be shown."
        isEmpty={items.length === 0}
        isFiltered={wanted !== ''}
        empty={<Empty title="No stored events">Events are kept for some days after the source sent them.</Empty>}
        noMatch={
          <NoMatch loosen={() => setText('')}>
            No event has this text among those that were looked at. Older ones may follow below.
          </NoMatch>
        }
      >
        <table className={look.rows}>
          <thead>
            <tr>
              <th>Event</th>
              <th>Stored</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ event, storedAt }) => (
              <tr key={`${String(event.messageId)} ${storedAt}`}>
                <td>
                  <button type="button" className={look.pick} onClick={() => choose(event)}>
                    <OuterText text={nameOf(event)} most={60} />
                    <span className="sub">
                      <OuterText text={userOf(event)} most={40} />
                    </span>
                  </button>
                </td>
                <td>
                  <TimeText at={storedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ListStates>
      <Older pages={read} />
    </SideDrawer>
  );
}

function userOf({ userId, anonymousId }: Record<string, unknown>): string {
  if (typeof userId === 'string') return userId;
  return typeof anonymousId === 'string' ? anonymousId : '';
}

function nameOf(event: Record<string, unknown>): string {
  const name = event.event ?? event.name;
  return eventName({ type: String(event.type), name: typeof name === 'string' ? name : null });
}

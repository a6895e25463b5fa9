/** Erases a user: the console shows what it touches, asks for the id once more, and makes the request. */
import { Checkbox, NativeSelect, TextInput } from '@mantine/core';
import type { Destination, Source } from '@millrace/contract/control';
import { type FormEvent, useState } from 'react';
import type { Page } from '../../api/queries.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { useSetSearch, useUrlSearch } from '../../parts/lists/url-filters.tsx';
import type { Deletion } from '../../parts/job/receipt.ts';
import { EarlierRequest } from './earlier-request.tsx';
import { EraseConfirm } from './erase-confirm.tsx';
import css from './privacy.module.css';
import { chosenSources } from './touched.ts';
import { TouchedFacts } from './touched-facts.tsx';

/** Only the first page of sources and of destinations is read. */
type EraseUserProps = {
  sources: Page<Source>;
  destinations: Page<Destination>;
  requests: readonly Deletion[];
};

export function EraseUser({ sources, destinations, requests }: EraseUserProps) {
  const { userId: wanted = '' } = useUrlSearch();
  const set = useSetSearch();
  const [typed, setTyped] = useState(wanted);
  const [sourceId, setSourceId] = useState('');
  const [suppress, setSuppress] = useState(false);
  const [asks, setAsks] = useState(false);
  const look = (event: FormEvent) => {
    event.preventDefault();
    set({ userId: typed.trim() });
  };
  const sought = {
    userId: wanted,
    sources: chosenSources(sources.items, sourceId),
    hasMoreSources: sourceId === '' && sources.nextCursor !== null,
    destinations: destinations.items,
    hasMoreDestinations: destinations.nextCursor !== null,
  };
  const isShown = wanted !== '' && wanted === typed.trim();
  return (
    <Card title="Erase a user">
      <div className="pad stack">
        <form className={css.form} onSubmit={look}>
          <TextInput
            className={css.user ?? ''}
            label="User id"
            placeholder="u_48213"
            maxLength={1_000}
            autoComplete="off"
            value={typed}
            data-filter=""
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <NativeSelect
            label="Sources"
            value={sourceId}
            onChange={(event) => setSourceId(event.currentTarget.value)}
            data={[
              { value: '', label: 'All sources' },
              ...sources.items.map(({ id, name }) => ({ value: id, label: cutText(visible(name), 60) })),
            ]}
          />
          <Button type="submit" disabled={typed.trim() === ''}>
            Look what it touches
          </Button>
        </form>
        <Checkbox
          label="Also suppress the user: Millrace drops later calls with this id"
          checked={suppress}
          onChange={(event) => setSuppress(event.currentTarget.checked)}
        />
        {isShown && (
          <>
            <EarlierRequest userId={wanted} requests={requests} />
            <TouchedFacts sought={sought} />
            <div className="btns">
              <Button look="danger" onClick={() => setAsks(true)}>
                Erase {cutText(visible(wanted), 40)}…
              </Button>
            </div>
          </>
        )}
      </div>
      {isShown && (
        <EraseConfirm
          key={wanted}
          sought={sought}
          request={{ suppress, ...(sourceId === '' ? {} : { sources: [sourceId] }) }}
          isOpen={asks}
          close={() => setAsks(false)}
        />
      )}
    </Card>
  );
}

/** All destinations: how each one stands, those that need somebody first. */
import type { Destination, Source } from '@millrace/contract/control';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type Page as Items, reading, readingPages } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { FilterChoice, Filters, FilterText } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, ListStates, NoMatch, Older } from '../../parts/list-states.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { useSearchChange } from '../../parts/use-search-change.ts';
import { Page } from '../../shell/page.tsx';
import { DestinationTable } from './destination-table.tsx';
import { choose, leadOf, STATE_CHOICES, totalOf } from './standings.ts';
import { useStandings } from './use-standings.ts';

export function Destinations() {
  const may = useMay('destinations:write');
  const change = useSearchChange();
  const { filter = '', state = '' } = useSearch({ from: '/shell/destinations' });
  const read = useInfiniteQuery(readingPages<Destination>('/destinations', { query: { limit: 100 }, every: 15_000 }));
  const sources = useQuery(reading<Items<Source>>('/sources', { query: { limit: 100 } })).data?.items ?? [];
  const all = useStandings(read.data?.pages.flatMap(({ items }) => items) ?? []);
  const shown = choose(all, { filter, state });
  const create = may && (
    <LinkButton look="ink" to="/destinations/new">
      <Icon name="plus" />
      New destination
    </LinkButton>
  );
  const lead = leadOf(all, read.hasNextPage);
  return (
    <Page title="Destinations">
      {all.length > 0 && (
        <>
          <Sentence {...(lead.state === undefined ? {} : { state: lead.state })} actions={create}>
            {lead.sentence}
          </Sentence>
          <Filters>
            <FilterText name="filter" label="Name or URL" isFirst />
            <FilterChoice name="state" label="State" choices={STATE_CHOICES} />
          </Filters>
        </>
      )}
      <Card>
        <ListStates
          read={read}
          failed="The destinations cannot be shown."
          isEmpty={shown.length === 0}
          isFiltered={filter !== '' || state !== ''}
          empty={
            <Empty title="No destination yet" action={create}>
              A destination is where events go: a webhook of your own service, with a filter and a signing secret.
              Millrace retries for four hours and keeps what it gave up for 14 days.
            </Empty>
          }
          noMatch={
            <NoMatch loosen={() => change({ filter: undefined, state: undefined })}>
              None of {totalOf(all, read.hasNextPage)} has this name, URL and state.
            </NoMatch>
          }
        >
          <DestinationTable standings={shown} sources={sources} />
        </ListStates>
        <Older pages={read} />
      </Card>
    </Page>
  );
}

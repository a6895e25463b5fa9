/** All audiences and computed traits: how many users, in which state, how far behind, and where they are told. */
import type { Definition, Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { readingDefinitions } from '../../api/definitions.ts';
import { type Page as Items, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { FilterChoice, Filters, FilterText } from '../../parts/filters.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListStates, NoMatch } from '../../parts/list-states.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { useSearchChange } from '../../parts/use-search-change.ts';
import { Page } from '../../shell/page.tsx';
import { chosen, KIND_CHOICES, leadOf } from './choose.ts';
import { DefinitionTable } from './definition-table.tsx';
import { FirstAudience } from './first-audience.tsx';

const NONE: readonly Definition[] = [];

export function Audiences() {
  const may = useMay('audiences:write');
  const change = useSearchChange();
  const { filter = '', kind = '' } = useSearch({ from: '/shell/audiences' });
  const read = useQuery(readingDefinitions({ every: 3_000 }));
  const destinations = useQuery(reading<Items<Destination>>('/destinations', { query: { limit: 100 } }));
  const all = read.data?.items ?? NONE;
  const shown = chosen(all, { filter, kind });
  const create = may && (
    <LinkButton look="ink" to="/audiences/new">
      <Icon name="plus" />
      New audience
    </LinkButton>
  );
  const lead = leadOf(all, read.data?.lagSeconds ?? null);
  return (
    <Page title="Audiences">
      {all.length > 0 && (
        <>
          <Sentence state={lead.state} actions={create} then={lead.next}>
            {lead.sentence}
          </Sentence>
          <Filters>
            <FilterText name="filter" label="Name or key" isFirst />
            <FilterChoice name="kind" label="Kind" choices={KIND_CHOICES} />
          </Filters>
        </>
      )}
      <Card>
        <ListStates
          read={read}
          failed="The audiences cannot be shown."
          isEmpty={shown.length === 0}
          isFiltered={filter !== '' || kind !== ''}
          empty={<FirstAudience action={create} />}
          noMatch={
            <NoMatch loosen={() => change({ filter: undefined, kind: undefined })}>
              None of {all.length} has this name or key and this kind.
            </NoMatch>
          }
        >
          <DefinitionTable definitions={shown} destinations={destinations.data?.items} />
        </ListStates>
      </Card>
    </Page>
  );
}

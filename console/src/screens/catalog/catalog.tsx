import type { CatalogItems } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { Page } from '../../shell/page.tsx';
import { EntryCard } from './entry-card.tsx';

export function Catalog() {
  const catalog = useQuery(reading<Static<typeof CatalogItems>>('/catalog'));
  const mayAdd = useMay('destinations:write');
  const items = catalog.data?.items ?? [];
  return (
    <Page title="Catalog" above={[{ name: 'Destinations', to: '/destinations' }]}>
      <Sentence
        then="Each destination is of one kind, attached to one source, with settings of its own."
        actions={
          mayAdd ? (
            <LinkButton look="ink" to="/destinations/new">
              New destination
            </LinkButton>
          ) : undefined
        }
      >
        {catalog.data === undefined
          ? 'Kinds of destinations.'
          : `Millrace knows ${counted(items.length, 'kind', 'kinds')} of destination.`}
      </Sentence>
      <div className="stack mt2">
        {items.map((entry) => (
          <EntryCard entry={entry} key={entry.name} />
        ))}
        {items.length === 0 && (
          <Card>
            <ListStates
              read={catalog}
              failed="The catalog cannot be shown."
              isEmpty
              empty={<Empty title="The catalog is empty">This version of Millrace knows no kind of destination.</Empty>}
            >
              {null}
            </ListStates>
          </Card>
        )}
      </div>
    </Page>
  );
}

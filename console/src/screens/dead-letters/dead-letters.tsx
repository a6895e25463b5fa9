/** Deliveries that Millrace gave up: why, and a way to send one or many again. */
import type { Destination, Overview } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readingOverview } from '../../api/overview.ts';
import { type Page as ListPage, reading } from '../../api/queries.ts';
import { useUrlSearch } from '../../parts/lists/url-filters.tsx';
import { OuterLink } from '../../parts/texts.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { Page } from '../../shell/page.tsx';
import { LetterList } from './letter-list.tsx';
import { headCount, headline } from './letters.ts';
import { OpenRedrives, Redrives } from './redrives.tsx';

/** A link of the router marks itself as current: here the search says which tab it is. */
const EXACT = { exact: true, includeSearch: true };

export function DeadLetters() {
  const { tab } = useUrlSearch();
  const overview = useQuery(readingOverview(15_000));
  const destinations = useQuery(reading<ListPage<Destination>>('/destinations', { query: { limit: 100 } }));
  const total = overview.data?.tiles.deadLetters;
  const words = headCount(total);
  const named = destinations.data?.items ?? [];
  return (
    <Page title="Dead letters">
      <Sentence
        state={words === undefined ? undefined : { name: 'givenup', words }}
        then={<ByDestination attention={overview.data?.attention ?? []} named={named} />}
      >
        {headline(total)}
      </Sentence>
      <nav className="tabs" aria-label="Dead letters and redrives">
        <Link to="/dead-letters" activeOptions={EXACT} aria-current={tab === 'redrives' ? undefined : 'page'}>
          Dead letters
        </Link>
        <Link
          to="/dead-letters"
          activeOptions={EXACT}
          search={{ tab: 'redrives' }}
          aria-current={tab === 'redrives' ? 'page' : undefined}
        >
          Redrives
        </Link>
      </nav>
      <div className="stack">
        <OpenRedrives destinations={destinations.data} />
        {tab === 'redrives' ? <Redrives destinations={destinations.data} /> : <LetterList list={destinations.data} />}
      </div>
    </Page>
  );
}

/** Where they are, and the way to repair each. */
function ByDestination({ attention, named }: { attention: Overview['attention']; named: readonly Destination[] }) {
  const troubles = attention.filter(({ kind }) => kind === 'dead_letters');
  if (troubles.length === 0) return null;
  return (
    <>
      They are of{' '}
      {troubles.map(({ destinationId = '' }, place) => (
        <span key={destinationId}>
          {place > 0 && ', '}
          <OuterLink
            to="/destinations/$id"
            params={{ id: destinationId }}
            text={named.find(({ id }) => id === destinationId)?.name ?? 'a destination'}
            most={40}
          />
        </span>
      ))}
      . {troubles[0]?.nextStep}
    </>
  );
}

/** Privacy: erase a user, look at the requests so far, and lift a suppression. */
import type { Destination, Source } from '@millrace/contract/control';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Page as ListPage, reading, readingPages } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { isOpen } from '../../parts/job/job-words.ts';
import { Empty, ListStates, Older } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { useUrlSearch } from '../../parts/lists/url-filters.tsx';
import { Page } from '../../shell/page.tsx';
import type { Deletion } from '../../parts/job/receipt.ts';
import { EraseUser } from './erase-user.tsx';
import { RequestRows } from './request-rows.tsx';
import { Suppressed } from './suppressed.tsx';

/** A link of the router marks itself as current: here the search says which tab it is. */
const EXACT = { exact: true, includeSearch: true };

export function Privacy() {
  const mayRead = useMay('deletions:read');
  return (
    <Page title="Privacy">
      {mayRead ? (
        <Requests />
      ) : (
        <Note title="Privacy needs the role admin.">
          Deletion requests show whom the workspace has erased. Ask an admin or the owner.
        </Note>
      )}
    </Page>
  );
}

function Requests() {
  const { tab } = useUrlSearch();
  const mayErase = useMay('deletions:write');
  const read = useInfiniteQuery(readingPages<Deletion>('/deletion-requests', { every: 5_000 }));
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const destinations = useQuery(reading<ListPage<Destination>>('/destinations', { query: { limit: 100 } }));
  const requests = (read.data?.pages ?? []).flatMap(({ items }) => items);
  const named = sources.data?.items ?? [];
  const isSuppressed = tab === 'suppressed';
  return (
    <>
      <Sentence then="A deletion request tells every enabled destination to delete the user, then erases the user in Millrace’s own stores. It keeps a receipt, and of the user only a hash.">
        {read.data === undefined ? 'Erase users on their request.' : summary(requests)}
      </Sentence>
      <nav className="tabs" aria-label="Privacy">
        <Link to="/privacy" activeOptions={EXACT} aria-current={isSuppressed ? undefined : 'page'}>
          Deletion requests
        </Link>
        <Link
          to="/privacy"
          activeOptions={EXACT}
          search={{ tab: 'suppressed' }}
          aria-current={isSuppressed ? 'page' : undefined}
        >
          Suppressed users
        </Link>
      </nav>
      {isSuppressed ? (
        <Suppressed requests={requests} sources={named} />
      ) : (
        <div className="stack">
          {mayErase && (sources.error ?? destinations.error) !== null && (
            <ProblemNote
              error={sources.error ?? destinations.error}
              what="The console cannot read the sources and destinations, so it cannot show what a deletion touches."
            />
          )}
          {mayErase && sources.data !== undefined && destinations.data !== undefined && (
            <EraseUser sources={sources.data} destinations={destinations.data} requests={requests} />
          )}
          <Card title="Deletion requests" aside="newest first">
            <ListStates
              read={read}
              failed="The deletion requests cannot be shown."
              isEmpty={requests.length === 0}
              empty={
                <Empty title="No user was erased yet">
                  When a person asks to be forgotten, enter their user id above. Millrace shows what that touches before
                  it erases anything, and keeps a receipt that you can hand out.
                </Empty>
              }
            >
              <RequestRows requests={requests} sources={named} />
            </ListStates>
            <Older pages={read} />
          </Card>
        </div>
      )}
    </>
  );
}

function summary(requests: readonly Deletion[]): string {
  const open = requests.filter(isOpen).length;
  if (requests.length === 0) return 'No user was erased yet.';
  if (open > 0) return `${counted(open, 'deletion request is', 'deletion requests are')} under way.`;
  return 'No deletion request is under way.';
}

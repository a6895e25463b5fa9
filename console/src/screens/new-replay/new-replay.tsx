/** A new replay: choose, look at the count and the first events, then start. */
import type { Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { type Page as ListPage, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { Card } from '../../parts/card.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { useUrlSearch } from '../../parts/lists/url-filters.tsx';
import { Page } from '../../shell/page.tsx';
import { ReplayFields } from './replay-fields.tsx';
import { ReplayPreviewCard } from './replay-preview.tsx';

const ABOVE = [{ name: 'Replays', to: '/replays' as const }];

export function NewReplay() {
  const mayReplay = useMay('replays:write');
  const search = useUrlSearch();
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const destinations = useQuery(reading<ListPage<Destination>>('/destinations', { query: { limit: 100 } }));
  const chosen = destinations.data?.items.find(({ id }) => id === search.destinationId);
  const error = sources.error ?? destinations.error;
  return (
    <Page title="New replay" above={ABOVE}>
      <Sentence then="Millrace applies today’s rules: an event that the destination would not get today is left out, and the preview says why.">
        {search.messageId === undefined
          ? 'Send stored events to a destination again.'
          : 'Send this event to a destination again.'}
      </Sentence>
      {!mayReplay && (
        <div className="mt2">
          <Note title="A replay needs the role developer.">
            Ask a developer or an admin of the workspace to start it.
          </Note>
        </div>
      )}
      {error !== null && (
        <div className="mt2">
          <ProblemNote error={error} what="The sources and destinations cannot be shown." />
        </div>
      )}
      {(sources.isPending || destinations.isPending) && <LoadingRows />}
      {sources.data !== undefined && destinations.data !== undefined && (
        <div className="cols mt2" style={{ gridTemplateColumns: 'minmax(0, 1fr)' }}>
          <Card title="Which events, and where to">
            <div className="pad stack">
              {search.messageId !== undefined && (
                <Note>
                  For the event <OuterText text={search.messageId} most={80} />. A replay takes a time and a filter, so
                  the fields hold the millisecond in which it came in, its user and its name.
                </Note>
              )}
              <ReplayFields sources={sources.data.items} destinations={destinations.data.items} />
            </div>
          </Card>
          <ReplayPreviewCard destination={chosen} mayStart={mayReplay} />
        </div>
      )}
    </Page>
  );
}

/** Replays: stored events that Millrace sends to a destination once more. */
import type { Destination, Source } from '@millrace/contract/control';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type Page as ListPage, reading, readingPages } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { isOpen } from '../../parts/job/job-words.ts';
import { Empty, ListStates, Older } from '../../parts/list-states.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { Page } from '../../shell/page.tsx';
import { ReplayRows } from './replay-rows.tsx';
import type { ReplayJob } from '../../parts/job/replay-words.ts';

export function Replays() {
  const mayReplay = useMay('replays:write');
  const navigate = useNavigate();
  const read = useInfiniteQuery(readingPages<ReplayJob>('/replays', { every: 5_000 }));
  const destinations = useQuery(reading<ListPage<Destination>>('/destinations', { query: { limit: 100 } }));
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const jobs = (read.data?.pages ?? []).flatMap(({ items }) => items);
  const open = jobs.filter(isOpen);
  const newReplay = mayReplay && (
    <LinkButton look="ink" to="/replays/new">
      New replay…
    </LinkButton>
  );
  return (
    <Page title="Replays">
      <Sentence
        actions={jobs.length > 0 && newReplay}
        then="A replay sends stored events to a destination again: after a receiver lost data, or to fill a new destination. Receivers see the same webhook-id as before."
      >
        {read.data === undefined ? 'Replays of stored events.' : summary(open, jobs.length)}
      </Sentence>
      <div className="mt2">
        <Card>
          <ListStates
            read={read}
            failed="The replays cannot be shown."
            isEmpty={jobs.length === 0}
            empty={
              <Empty title="No replay yet" action={newReplay}>
                Millrace keeps stored events for a limited time (72 hours unless the operator sets another). Until then
                you can send them again: choose a source, a destination and a time, look at the count, then start.
              </Empty>
            }
          >
            <ReplayRows
              jobs={jobs}
              destinations={destinations.data?.items ?? []}
              sources={sources.data?.items ?? []}
              open={(id) => void navigate({ to: '/replays/$id', params: { id } })}
            />
          </ListStates>
          <Older pages={read} />
        </Card>
      </div>
    </Page>
  );
}

function summary(open: readonly ReplayJob[], all: number): string {
  const running = open.filter(({ state }) => state === 'running').length;
  const paused = open.length - running;
  if (open.length === 0) return all === 0 ? 'Nothing has been replayed yet.' : 'No replay runs.';
  const first = running === 0 ? 'No replay runs' : counted(running, 'replay runs', 'replays run');
  return paused === 0 ? `${first}.` : `${first}, and ${counted(paused, 'is paused', 'are paused')}.`;
}

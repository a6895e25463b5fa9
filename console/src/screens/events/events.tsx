/** A search through the stored events of a source. It always says how far Millrace looked. */
import type { Source } from '@millrace/contract/control';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Page as ListPage, reading, readingPages } from '../../api/queries.ts';
import { WithoutPayloads } from '../../parts/without-payloads.tsx';
import { useMay } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates, LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { useSetSearch, useUrlSearch } from '../../parts/lists/url-filters.tsx';
import { Page } from '../../shell/page.tsx';
import { EventDrawer } from './event-drawer.tsx';
import { EventFilters } from './event-filters.tsx';
import { EventRows } from './event-rows.tsx';
import { NoEventMatch } from './no-event-match.tsx';
import {
  isFiltered,
  lookedOf,
  lookedSentence,
  queryOf,
  type StoredItem,
  type StoredPage,
  textOf,
} from '../../parts/stored-events/stored-events.ts';

export function Events() {
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const mayBuild = useMay('sources:write');
  const maySee = useMay('payloads:read');
  const search = useUrlSearch();
  const items = sources.data?.items ?? [];
  const source =
    items.find(({ id }) => id === search.sourceId) ?? (search.sourceId === undefined ? items[0] : undefined);
  const sourceId = search.sourceId ?? source?.id;
  return (
    <Page title="Events">
      {sources.isPending && <LoadingRows />}
      {sources.error !== null && <ProblemNote error={sources.error} what="The sources cannot be shown." />}
      {sources.data !== undefined && sourceId === undefined && (
        <Empty
          title="No source yet"
          action={
            mayBuild && (
              <LinkButton look="ink" to="/sources/new">
                New source
              </LinkButton>
            )
          }
        >
          Events come from a source: your shop, your app, your servers. Create one, and each call that it sends can be
          searched here for as long as Millrace stores it.
        </Empty>
      )}
      {!maySee && <WithoutPayloads what="Stored events are" />}
      {maySee && sourceId !== undefined && sources.data !== undefined && (
        <EventSearch sourceId={sourceId} name={source?.name ?? sourceId} sources={items} />
      )}
    </Page>
  );
}

/** An empty page is no end: the console goes on by itself for so many pages. */
const PAGES_BY_ITSELF = 5;

type EventSearchProps = { sourceId: string; name: string; sources: readonly Source[] };

function EventSearch({ sourceId, name, sources }: EventSearchProps) {
  const search = useUrlSearch();
  const set = useSetSearch();
  const [now, setNow] = useState(() => Date.now());
  const read = useInfiniteQuery(readingPages<StoredItem>('/stored-events', { query: queryOf(search, sourceId, now) }));
  const pages = (read.data?.pages ?? []) as StoredPage[];
  const items = pages.flatMap((page) => page.items);
  const looked = lookedOf(pages);
  const goesOn = items.length === 0 && read.hasNextPage && pages.length < PAGES_BY_ITSELF && read.error === null;
  const { isFetching, fetchNextPage } = read;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage]);
  const refresh = () => {
    setNow(Date.now());
    void read.refetch();
  };
  const shown = items.find(({ event }) => textOf(event, 'messageId') === search.show);
  return (
    <>
      <Sentence
        then={read.data !== undefined && lookedSentence(looked, now)}
        actions={
          <Button onClick={refresh} isBusy={read.isFetching}>
            Search again
          </Button>
        }
      >
        <OuterText text={name} />: {summary(items.length, isFiltered(search), read.isPending)}
      </Sentence>
      <div className="mt2">
        <Card>
          <EventFilters sources={sources} sourceId={sourceId} />
          <ListStates
            read={read}
            failed="The stored events cannot be shown."
            isEmpty={items.length === 0}
            isFiltered={isFiltered(search)}
            empty={goesOn || read.isFetching ? <LoadingRows /> : <NoEventsYet sourceId={sourceId} />}
            noMatch={
              goesOn || read.isFetchingNextPage ? (
                <LoadingRows />
              ) : (
                <NoEventMatch search={search} looked={looked} now={now} />
              )
            }
          >
            <EventRows
              items={items}
              sourceId={sourceId}
              shown={search.show}
              show={(messageId) => set({ show: messageId })}
            />
          </ListStates>
          {read.hasNextPage && !goesOn && (
            <div className="pad">
              <Button isBusy={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
                Look further back
              </Button>
            </div>
          )}
        </Card>
      </div>
      <EventDrawer item={shown} sourceId={sourceId} close={() => set({ show: undefined })} />
    </>
  );
}

function summary(found: number, isFiltered: boolean, isPending: boolean): string {
  if (isPending) return 'searching the stored events.';
  if (found === 0) return isFiltered ? 'no stored event matches.' : 'no stored events.';
  return isFiltered
    ? `${counted(found, 'stored event matches', 'stored events match')} so far, newest first.`
    : `the ${counted(found, 'newest stored event')}.`;
}

function NoEventsYet({ sourceId }: { sourceId: string }) {
  return (
    <Empty
      title="No stored events"
      action={
        <LinkButton look="ink" to="/sources/$id" params={{ id: sourceId }}>
          Look at the source
        </LinkButton>
      }
    >
      Millrace stores each accepted call for a limited time (72 hours unless the operator sets another). This source has
      none: it sent nothing lately, or all of its users are erased or suppressed.
    </Empty>
  );
}

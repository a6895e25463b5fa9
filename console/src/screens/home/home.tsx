import type { Destination, Overview, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { readingOverview } from '../../api/overview.ts';
import { type Page as ListPage, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { clock } from '../../format/times.ts';
import { Card } from '../../parts/card.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RangeSwitch, useRange } from '../../parts/range-switch.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { Page } from '../../shell/page.tsx';
import { AttentionCard } from './attention-card.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { GetStartedCard } from './get-started-card.tsx';
import { headlineOf, thenOf } from './headline.ts';
import { HomeTiles } from './tiles.tsx';
import { useDeliveries } from './use-deliveries.ts';
import { useStarted } from './use-started.ts';

const LIVE_MS = 5_000;

export function Home() {
  const overview = useQuery(readingOverview(LIVE_MS));
  const { data, error } = overview;
  const live = data !== undefined && (
    <span className="dim small wide nowrap">
      {error === null ? 'Live' : 'Last read'}, {clock(data.at)}
    </span>
  );
  return (
    <Page
      title="Home"
      right={
        <>
          {live}
          <RangeSwitch />
        </>
      }
    >
      <div className="stack">
        {error !== null && (
          <ProblemNote
            error={error}
            what={data === undefined ? 'The overview cannot be shown.' : 'These are the last figures that came.'}
            retry={() => void overview.refetch()}
          />
        )}
        {data === undefined ? error === null && <LoadingRows rows={12} /> : <Shown overview={data} />}
      </div>
    </Page>
  );
}

function Shown({ overview }: { overview: Overview }) {
  const destinations = useQuery(reading<ListPage<Destination>>('/destinations', { query: { limit: 100 } }));
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const things = [...(destinations.data?.items ?? []), ...(sources.data?.items ?? [])];
  const names = new Map(things.map(({ id, name }) => [id, name]));
  // A longer list has a total that is not known.
  const total = destinations.data?.nextCursor === null ? destinations.data.items.length : undefined;
  const started = useStarted(overview);
  const deliveries = useDeliveries(overview);
  const { name } = useRange();
  const mayResume = useMay('destinations:write');
  const hasTrouble = overview.attention.length > 0;
  return (
    <>
      <Headline overview={overview} destinations={total} isNew={started !== undefined && !hasTrouble} />
      {started !== undefined && <GetStartedCard started={started} />}
      <HomeTiles
        overview={overview}
        destinations={total}
        names={names}
        points={deliveries.data?.points}
        rangeName={name.replace(/(\d+)/, '$1\u00a0')}
      />
      {(hasTrouble || started === undefined) && (
        <AttentionCard overview={overview} names={names} mayResume={mayResume} isInk={started === undefined} />
      )}
      {deliveries.error !== null && (
        <ProblemNote error={deliveries.error} what="The chart cannot be shown." retry={deliveries.retry} />
      )}
      {deliveries.data === undefined ? (
        <Card>
          <LoadingRows rows={7} />
        </Card>
      ) : (
        <DeliveriesCard deliveries={deliveries.data} attention={overview.attention} />
      )}
    </>
  );
}

type HeadlineProps = { overview: Overview; destinations: number | undefined; isNew: boolean };

function Headline({ overview, destinations, isNew }: HeadlineProps) {
  if (isNew) {
    return (
      <Sentence then="Four steps lead to the first delivered event. They take about five minutes.">
        Millrace is ready for your first event.
      </Sentence>
    );
  }
  const { title, phrases, more } = headlineOf(overview.attention, destinations);
  return (
    <Sentence then={thenOf(overview.tiles)}>
      {title}
      {phrases.map(({ name, words }, place) => (
        <Fragment key={`${name} ${words}`}>
          {place > 0 && (more > 0 ? ', ' : ', and ')}
          <OuterText text={name} most={40} /> {words}
        </Fragment>
      ))}
      {more > 0 && `, and ${more} more`}
      {phrases.length > 0 && '.'}
    </Sentence>
  );
}

/** One replay: its progress and rate, its switches, and its result. */
import type { Destination, DestinationHealth, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { lookWhile } from '../../api/look-again.ts';
import { type Page as ListPage, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { count } from '../../format/numbers.ts';
import { localSentence } from '../../format/sentences.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card, Facts, Tiles } from '../../parts/card.tsx';
import { JobProgress, JobSwitches } from '../../parts/job/job-parts.tsx';
import { isOpen, rateOf, standingOfJob } from '../../parts/job/job-words.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { IdText, OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Page } from '../../shell/page.tsx';
import { filterWords, type ReplayJob, replaySentence } from '../../parts/job/replay-words.ts';
import { againSearch } from './again-search.ts';
import { LeftOut } from './left-out.tsx';

const ABOVE = [{ name: 'Replays', to: '/replays' as const }];

export function ReplayScreen() {
  const { id } = useParams({ from: '/shell/replays/$id' });
  const read = useQuery({
    ...reading<ReplayJob>(`/replays/${encodeURIComponent(id)}`),
    placeholderData: () => undefined,
    refetchInterval: lookWhile<ReplayJob>(2_000, isOpen),
  });
  return (
    <Page title={`Replay …${id.slice(-6)}`} above={ABOVE}>
      {read.isPending && <LoadingRows />}
      {read.error !== null && (
        <ProblemNote error={read.error} what="The replay cannot be shown." retry={() => void read.refetch()} />
      )}
      {read.data !== undefined && <Shown job={read.data} />}
    </Page>
  );
}

function Shown({ job }: { job: ReplayJob }) {
  const now = useNow(1_000);
  const mayAct = useMay('replays:write');
  const { state, word } = standingOfJob(job);
  const again = againSearch(job.asked);
  return (
    <>
      <Sentence
        state={{ name: state, words: `${word}.` }}
        actions={
          mayAct &&
          (isOpen(job) ? (
            <JobSwitches job={job} path="/replays" noun="replay" />
          ) : (
            again !== undefined && (
              <LinkButton to="/replays/new" search={again}>
                Replay again…
              </LinkButton>
            )
          ))
        }
      >
        {replaySentence(job, now)}
      </Sentence>
      <div className="mt2">
        <ReplayTiles job={job} now={now} />
      </div>
      <div className="cols mt">
        <div className="stack">
          <Card title="Progress">
            <div className="pad">
              <JobProgress job={job} label="Progress of the replay" />
            </div>
          </Card>
          <LeftOut job={job} />
        </div>
        <Asked job={job} />
      </div>
    </>
  );
}

function ReplayTiles({ job, now }: { job: ReplayJob; now: number }) {
  // While it is paused, the average since its start says nothing.
  const rate = job.state === 'paused' ? undefined : rateOf(job, now);
  const { done, total } = job.progress;
  return (
    <Tiles
      label="The replay in figures"
      tiles={[
        { name: 'Put into the lane', value: count(done), detail: 'deliveries made anew' },
        {
          name: 'To send',
          value: total === null ? '–' : count(total),
          detail: total === null ? 'still counting' : 'counted at the start',
        },
        {
          name: 'Rate',
          value: rate === undefined ? '–' : rate < 10 ? rate.toFixed(1) : count(rate),
          unit: 'a second',
          detail:
            job.asked.ratePerSecond === undefined
              ? 'no limit; new events go first'
              : `at most ${count(job.asked.ratePerSecond)} a second`,
        },
        {
          name: job.endedAt === null ? 'Started' : 'Ended',
          value: <TimeText at={job.endedAt ?? job.createdAt} />,
          detail: job.endedAt === null ? 'goes on after a restart' : undefined,
        },
      ]}
    />
  );
}

function Asked({ job: { id, asked } }: { job: ReplayJob }) {
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const destinations = useQuery(reading<ListPage<Destination>>('/destinations', { query: { limit: 100 } }));
  const source = sources.data?.items.find((each) => each.id === asked.sourceId);
  const destination = destinations.data?.items.find((each) => each.id === asked.destinationId);
  const health = useQuery(
    reading<DestinationHealth>(`/destinations/${asked.destinationId}/health`, {
      every: 5_000,
      enabled: destination !== undefined,
    }),
  );
  const facts: (readonly [string, ReactNode])[] = [
    [
      'Source',
      source === undefined ? (
        <IdText key="s" id={asked.sourceId} />
      ) : (
        <OuterLink key="s" to="/sources/$id" params={{ id: source.id }} text={source.name} />
      ),
    ],
    [
      'Destination',
      destination === undefined ? (
        <IdText key="d" id={asked.destinationId} />
      ) : (
        <OuterLink key="d" to="/destinations/$id" params={{ id: destination.id }} text={destination.name} />
      ),
    ],
    ['Received from', <TimeText key="f" at={asked.from} />],
    ['Received before', <TimeText key="t" at={asked.to} />],
    ['Filter', filterWords(asked.filter) ?? 'all events'],
    ['Id', <IdText key="i" id={id} />],
  ];
  return (
    <Card title="Asked for">
      <div className="pad stack">
        <Facts facts={facts} />
        {health.data !== undefined && (
          <p className="soft">
            The destination now: <OuterText text={localSentence(health.data.sentence)} most={600} />
          </p>
        )}
        <p className="small">
          <Link to="/deliveries" search={{ destinationId: asked.destinationId }}>
            Deliveries of the destination
          </Link>
        </p>
      </div>
    </Card>
  );
}

/** One destination: how it stands and why, in one sentence; what proves it follows below. */
import type { Destination, DestinationHealth, TargetErrors } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { readingOverview } from '../../api/overview.ts';
import { reading } from '../../api/queries.ts';
import { cutText, visible } from '../../format/texts.ts';
import { DestinationTabs } from '../../parts/destination-tabs.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RangeSwitch } from '../../parts/range-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { FailureCard } from './failure-card.tsx';
import { HealthLead } from './health-lead.tsx';
import { LaneCard } from './lane-card.tsx';
import { LatencyCard } from './latency-card.tsx';
import { LatestCard } from './latest-card.tsx';
import { OutcomeCard } from './outcome-card.tsx';
import { RedriveProgress } from './redrive-progress.tsx';
import { SetUpCard } from './set-up-card.tsx';
import { TargetsCard } from './targets-card.tsx';

const ABOVE = [{ name: 'Destinations', to: '/destinations' }] as const;

export function DestinationScreen() {
  const { id } = useParams({ from: '/shell/destinations/$id' });
  const read = useQuery(reading<Destination>(`/destinations/${encodeURIComponent(id)}`, { every: 10_000 }));
  const destination = read.data;
  return (
    <Page title={cutText(visible(destination?.name ?? 'Destination'), 60)} above={ABOVE} right={<RangeSwitch />}>
      {destination === undefined ? (
        read.error === null ? (
          <LoadingRows />
        ) : (
          <ProblemNote error={read.error} what="The destination cannot be shown." retry={() => void read.refetch()} />
        )
      ) : (
        <Overviewed key={destination.id} destination={destination} />
      )}
    </Page>
  );
}

function Overviewed({ destination }: { destination: Destination }) {
  const { id } = destination;
  const health = useQuery(reading<DestinationHealth>(`/destinations/${id}/health`, { every: 5_000 }));
  const errors = useQuery(reading<TargetErrors>(`/destinations/${id}/errors`, { every: 10_000 }));
  const overview = useQuery(readingOverview(30_000));
  const lane = health.data?.lane ?? null;
  return (
    <>
      <HealthLead destination={destination} health={health} errors={errors.data} overview={overview.data} />
      <DestinationTabs id={id} current="overview" />
      <RedriveProgress />
      <div className="cols">
        <div className="stack">
          <OutcomeCard destinationId={id} lane={lane} />
          <FailureCard destination={destination} errors={errors} />
          <LatestCard destinationId={id} />
        </div>
        <div className="stack">
          <LaneCard destination={destination} lane={lane} />
          <TargetsCard destination={destination} errors={errors.data} />
          <LatencyCard destinationId={id} health={health.data} />
          <SetUpCard destination={destination} />
        </div>
      </div>
    </>
  );
}

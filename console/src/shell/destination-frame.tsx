/** The frame of the pages of one destination: it reads the destination, then shows its tabs and the page. */
import type { Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { reading } from '../api/queries.ts';
import { cutText, visible } from '../format/texts.ts';
import { Page } from './page.tsx';
import { DestinationTabs, type DestinationTab } from '../parts/destination-tabs.tsx';
import { LoadingRows } from '../parts/list-states.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

type DestinationFrameProps = {
  id: string;
  tab: DestinationTab;
  /** Stands above the tabs. */
  sentence(destination: Destination): ReactNode;
  children(destination: Destination): ReactNode;
};

const ABOVE = [{ name: 'Destinations', to: '/destinations' }] as const;

export function DestinationFrame({ id, tab, sentence, children }: DestinationFrameProps) {
  const read = useQuery(reading<Destination>(`/destinations/${id}`, { every: 5_000 }));
  const destination = read.data?.id === id ? read.data : undefined;
  return (
    <Page title={destination === undefined ? 'Destination' : cutText(visible(destination.name), 60)} above={ABOVE}>
      {destination !== undefined && sentence(destination)}
      <DestinationTabs id={id} current={tab} />
      {read.error !== null && (
        <ProblemNote error={read.error} what="The destination cannot be read." retry={() => void read.refetch()} />
      )}
      {destination === undefined ? read.error === null && <LoadingRows /> : children(destination)}
    </Page>
  );
}

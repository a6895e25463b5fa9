/** The deliveries of one destination, as the list of all with its destination given. */
import type { Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { reading } from '../../api/queries.ts';
import { COMMON_CLASSES } from '../../format/codes.ts';
import { cutText, visible } from '../../format/texts.ts';
import { DestinationTabs } from '../../parts/destination-tabs.tsx';
import { FilterChoice, Filters, FilterText } from '../../parts/filters.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RangeSwitch } from '../../parts/range-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { DeliveryList } from '../../parts/delivery-list/delivery-list.tsx';
import { STATE_CHOICES } from '../../parts/delivery-list/delivery-search.ts';
import { DeliveryTotals } from '../../parts/delivery-list/delivery-totals.tsx';

export function DestinationDeliveries() {
  const { id } = useParams({ from: '/shell/destinations/$id/deliveries' });
  const search = useSearch({ from: '/shell/destinations/$id/deliveries' });
  const read = useQuery(reading<Destination>(`/destinations/${encodeURIComponent(id)}`));
  const name = cutText(visible(read.data?.name ?? 'Destination'), 60);
  return (
    <Page
      title="Deliveries"
      above={[
        { name: 'Destinations', to: '/destinations' },
        { name, to: '/destinations/$id', params: { id } },
      ]}
      right={<RangeSwitch />}
    >
      {read.error !== null && <ProblemNote error={read.error} what="The destination cannot be shown." />}
      <DeliveryTotals destinationId={id} />
      <DestinationTabs id={id} current="deliveries" />
      <Filters>
        <FilterText name="event" label="Event" placeholder="Event name" isFirst />
        <FilterText name="userId" label="User" placeholder="User id" />
        <FilterChoice name="state" label="State" choices={STATE_CHOICES} />
        <FilterText name="errorClass" label="Error" placeholder="Error, as http_503" suggestions={COMMON_CLASSES} />
      </Filters>
      <DeliveryList search={search} fixed={{ destinationId: id }} />
    </Page>
  );
}

/** The deliveries of all destinations, newest first, by filters that live in the URL. */
import type { Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type Page as Items, reading } from '../../api/queries.ts';
import { COMMON_CLASSES } from '../../format/codes.ts';
import { cutText, visible } from '../../format/texts.ts';
import { FilterChoice, Filters, FilterText } from '../../parts/filters.tsx';
import { RangeSwitch } from '../../parts/range-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { DeliveryList } from '../../parts/delivery-list/delivery-list.tsx';
import { STATE_CHOICES } from '../../parts/delivery-list/delivery-search.ts';
import { DeliveryTotals } from '../../parts/delivery-list/delivery-totals.tsx';

export function Deliveries() {
  const search = useSearch({ from: '/shell/deliveries' });
  const destinations = useQuery(reading<Items<Destination>>('/destinations', { query: { limit: 100 } })).data?.items;
  const sources = useQuery(reading<Items<Source>>('/sources', { query: { limit: 100 } })).data?.items;
  return (
    <Page title="Deliveries" right={<RangeSwitch />}>
      <DeliveryTotals destinationId={search.destinationId} />
      <Filters>
        <FilterText name="event" label="Event" placeholder="Event name" isFirst />
        <FilterText name="userId" label="User" placeholder="User id" />
        <FilterChoice name="state" label="State" choices={STATE_CHOICES} />
        <FilterText name="errorClass" label="Error" placeholder="Error, as http_503" suggestions={COMMON_CLASSES} />
        <FilterChoice name="destinationId" label="Destination" choices={choicesOf('Any destination', destinations)} />
        <FilterChoice name="sourceId" label="Source" choices={choicesOf('Any source', sources)} />
        {search.messageId !== undefined && <FilterText name="messageId" label="messageId" />}
      </Filters>
      <DeliveryList search={search} destinations={destinations} />
    </Page>
  );
}

function choicesOf(any: string, items: readonly { id: string; name: string }[] | undefined) {
  const named = (items ?? []).map(({ id, name }) => ({ value: id, label: cutText(visible(name), 40) }));
  return [{ value: '', label: any }, ...named];
}

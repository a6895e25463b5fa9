import type { Source } from '@millrace/contract/control';
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/lists/url-filters.tsx';
import { cutText, visible } from '../../format/texts.ts';
import { SPANS } from '../../parts/stored-events/stored-events.ts';

const TYPES = ['track', 'identify', 'page', 'screen', 'group', 'alias'].map((type) => ({ value: type, label: type }));
const TIMES = Object.entries(SPANS).map(([value, { label }]) => ({ value, label }));

export function EventFilters({ sources, sourceId }: { sources: readonly Source[]; sourceId: string }) {
  const choices = sources.map(({ id, name }) => ({ value: id, label: cutText(visible(name), 60) }));
  return (
    <FilterBar>
      <ChoiceFilter name="sourceId" label="Source" choices={choices} fallback={sourceId} />
      <TextFilter
        name="text"
        label="Anywhere in the event"
        placeholder="An order id, an address, a messageId"
        maxLength={200}
        isMain
      />
      <TextFilter name="userId" label="User" placeholder="userId" />
      <TextFilter name="name" label="Event name" placeholder="Order Completed" />
      <ChoiceFilter name="type" label="Type" choices={TYPES} all="All types" />
      <ChoiceFilter name="range" label="Received" choices={TIMES} all="Any time" />
    </FilterBar>
  );
}

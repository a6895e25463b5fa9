import { TextInput } from '@mantine/core';
import type { Destination, Source } from '@millrace/contract/control';
import { zone } from '../../format/times.ts';
import { cutText, visible } from '../../format/texts.ts';
import { ChoiceFilter, TextFilter, useSetSearch, useUrlSearch } from '../../parts/lists/url-filters.tsx';
import css from './new-replay.module.css';
import { fromLocalInput, localInput, SPANS, TYPES } from './replay-form.ts';

const named = (things: readonly { id: string; name: string }[]) =>
  things.map(({ id, name }) => ({ value: id, label: cutText(visible(name), 60) }));

type ReplayFieldsProps = { sources: readonly Source[]; destinations: readonly Destination[] };

export function ReplayFields({ sources, destinations }: ReplayFieldsProps) {
  const { sourceId, range, from } = useUrlSearch();
  const ofSource = destinations.filter((destination) => destination.sourceId === sourceId);
  const isOwn = range === 'own' || (range === undefined && from !== undefined);
  const spans = [
    ...Object.entries(SPANS).map(([value, { label }]) => ({ value, label })),
    { value: 'own', label: 'From … to …' },
  ];
  return (
    <div className={css.fields}>
      <ChoiceFilter
        name="sourceId"
        label="Source"
        choices={named(sources)}
        all="Choose a source"
        clears="destinationId"
      />
      <ChoiceFilter
        name="destinationId"
        label="Destination"
        choices={named(ofSource)}
        all={sourceId === undefined ? 'Choose a source first' : 'Choose a destination'}
      />
      <ChoiceFilter name="range" label="Received" choices={spans} fallback={isOwn ? 'own' : '1h'} />
      {isOwn && (
        <>
          <TimeField name="from" label={`From (${zone()})`} />
          <TimeField name="to" label={`Before (${zone()})`} />
        </>
      )}
      <ChoiceFilter
        name="type"
        label="Type"
        choices={TYPES.map((type) => ({ value: type, label: type }))}
        all="All types"
      />
      <TextFilter name="event" label="Names of track events" placeholder="All, or names with commas" />
      <TextFilter name="userId" label="Users" placeholder="All, or ids with commas" />
    </div>
  );
}

function TimeField({ name, label }: { name: 'from' | 'to'; label: string }) {
  const given = useUrlSearch()[name];
  const set = useSetSearch();
  return (
    <TextInput
      label={label}
      type="datetime-local"
      step="0.001"
      value={localInput(given)}
      onChange={(event) => set({ range: 'own', [name]: fromLocalInput(event.currentTarget.value) })}
    />
  );
}

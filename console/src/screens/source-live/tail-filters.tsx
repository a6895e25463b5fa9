import { Autocomplete, SegmentedControl, Select, TextInput } from '@mantine/core';
import type { SourceEvents } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { OuterText } from '../../parts/texts.tsx';
import { CALL_TYPES, type ChangeSearch, type LiveSearch } from './live-search.ts';
import styles from './source-live.module.css';

type TailFiltersProps = { sourceId: string; search: LiveSearch; change: ChangeSearch };

export function TailFilters({ sourceId, search, change }: TailFiltersProps) {
  const events = useQuery(
    reading<Static<typeof SourceEvents>>(`/sources/${sourceId}/events`, { query: { limit: 100 } }),
  );
  const [event, setEvent] = useState(search.event ?? '');
  const [userId, setUserId] = useState(search.userId ?? '');
  const apply = () => {
    if (event !== (search.event ?? '') || userId !== (search.userId ?? '')) change({ event, userId });
  };
  const names = [...new Set(events.data?.items.map(({ name }) => name))];
  return (
    <form
      className={styles.filters}
      onSubmit={(submitted) => {
        submitted.preventDefault();
        apply();
      }}
    >
      <SegmentedControl
        aria-label="Accepted or refused calls"
        size="xs"
        value={search.only ?? 'all'}
        onChange={(only) => change({ only: only === 'all' ? undefined : only })}
        data={[
          { value: 'all', label: 'All' },
          { value: 'accepted', label: 'Accepted' },
          { value: 'refused', label: 'Refused' },
        ]}
      />
      <Select
        aria-label="Type of call"
        placeholder="Type: any"
        className={styles.short}
        clearable
        value={search.type ?? null}
        onChange={(type) => change({ type: type ?? undefined })}
        data={[...CALL_TYPES]}
      />
      <Autocomplete
        aria-label="Event, page or screen, exact name"
        placeholder="Event: any"
        className={styles.middle}
        data={names}
        renderOption={({ option }) => <OuterText text={option.value} most={60} />}
        limit={20}
        value={event}
        data-filter
        onChange={setEvent}
        onOptionSubmit={(chosen) => change({ event: chosen, userId })}
        onBlur={apply}
      />
      <TextInput
        aria-label="User id, exact"
        placeholder="User id, exact"
        className={styles.middle}
        value={userId}
        onChange={(changed) => setUserId(changed.currentTarget.value)}
        onBlur={apply}
      />
      <button type="submit" className="sr" tabIndex={-1}>
        Apply
      </button>
    </form>
  );
}

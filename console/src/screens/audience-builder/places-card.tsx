/** Which sources count, and which destinations are told. */
import { Checkbox, TextInput } from '@mantine/core';
import type { Destination, Source } from '@millrace/contract/control';
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import type { Draft } from '../../parts/audience/draft/draft.ts';
import { Card } from '../../parts/card.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { visible } from '../../format/texts.ts';
import css from './builder.module.css';

type PlacesCardProps = {
  draft: Draft;
  sources: readonly Source[];
  destinations: readonly Destination[];
  problems: ReadonlyMap<string, string>;
  put(part: Partial<Draft>): void;
};

export function PlacesCard({ draft, sources, destinations, problems, put }: PlacesCardProps) {
  const [isChosen, setIsChosen] = useState(draft.sources.length > 0);
  return (
    <Card title="Where it goes">
      <div className="pad stack">
        <Checkbox.Group
          label="Told to"
          description="Each of these destinations gets an identify call for every user who enters, leaves or gets another value."
          value={draft.destinations}
          onChange={(next) => put({ destinations: next })}
        >
          <div className={`${css.places} mt`}>
            {destinations.map(({ id, name, enabled }) => (
              <Checkbox
                key={id}
                value={id}
                label={
                  <>
                    <OuterText text={name} most={60} />
                    {!enabled && <span className="dim"> disabled</span>}
                  </>
                }
              />
            ))}
            {destinations.length === 0 && (
              <span className="dim">There is no destination yet. It can be attached later.</span>
            )}
          </div>
        </Checkbox.Group>
        <div>
          <p className={css.label}>Counts events of</p>
          <SegmentedControl
            aria-label="Counts events of"
            size="xs"
            value={isChosen ? 'some' : 'all'}
            data={[
              { value: 'all', label: 'every source' },
              { value: 'some', label: 'some sources' },
            ]}
            onChange={(next) => {
              setIsChosen(next === 'some');
              if (next === 'all') put({ sources: [] });
            }}
          />
          {isChosen && (
            <Checkbox.Group
              aria-label="Sources"
              value={draft.sources}
              onChange={(next) => put({ sources: next })}
              {...(draft.sources.length === 0 ? { error: 'Without a choice every source counts.' } : {})}
            >
              <div className={`${css.places} mt`}>
                {sources.map(({ id, name }) => (
                  <Checkbox key={id} value={id} label={<OuterText text={name} most={60} />} />
                ))}
              </div>
            </Checkbox.Group>
          )}
        </div>
        <Checkbox
          label="Also anonymous visitors"
          description="Visitors without a user id are told with their anonymousId. Without this they count only once they sign in."
          checked={draft.includeAnonymous}
          onChange={(event) => put({ includeAnonymous: event.currentTarget.checked })}
        />
        <TextInput
          className={css.settle ?? ''}
          label="Wait before a change is told, in seconds"
          description="Changes of one user within this time become one call."
          placeholder={draft.kind === 'audience' ? '0' : '60 for numbers, else 0'}
          inputMode="numeric"
          value={draft.settleSeconds}
          error={visible(problems.get('settleSeconds') ?? '')}
          onChange={(event) => put({ settleSeconds: event.currentTarget.value })}
        />
      </div>
    </Card>
  );
}

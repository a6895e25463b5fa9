import type { Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Static } from 'typebox';
import { type Page, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { Note } from '../../parts/note.tsx';
import { SourceTabs } from '../../parts/source-tabs.tsx';
import { DeleteSource } from './delete-source.tsx';
import { DestinationsCard } from './destinations-card.tsx';
import { GeneralCard } from './general-card.tsx';
import { RefusalsCard } from './refusals-card.tsx';
import { SettingsSentence } from './settings-sentence.tsx';
import { WriteKeysCard } from './write-keys-card.tsx';

export type DestinationOf = Static<typeof Destination>;

export function SettingsPage({ source }: { source: Source }) {
  const mayWrite = useMay('sources:write');
  const destinations = useQuery(
    reading<Page<DestinationOf>>('/destinations', { query: { sourceId: source.id, limit: 100 }, every: 15_000 }),
  );
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), []);
  const { state, why } = source.projection;
  return (
    <>
      <SettingsSentence source={source} destinations={destinations.data?.items.length} />
      <SourceTabs id={source.id} current="settings" />
      <div className="stack">
        {state === 'pending' && <Note state="waiting">The latest change is on its way to collect and deliver.</Note>}
        {state === 'failed' && (
          <Note state="givenup" title="The latest change is not in effect.">
            {why}
          </Note>
        )}
        <div className="cols">
          <div className="stack">
            <WriteKeysCard source={source} mayWrite={mayWrite} />
            <div id="refusals">
              <RefusalsCard sourceId={source.id} />
            </div>
          </div>
          <div className="stack">
            <GeneralCard source={source} mayWrite={mayWrite} />
            <div id="destinations">
              <DestinationsCard sourceId={source.id} read={destinations} />
            </div>
            {mayWrite && <DeleteSource source={source} destinations={destinations.data?.items ?? []} />}
          </div>
        </div>
      </div>
    </>
  );
}

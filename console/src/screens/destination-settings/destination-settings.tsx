/** The settings of a destination: all typed changes are saved together; state, secret and deletion act on their own. */
import type { Destination } from '@millrace/contract/control';
import { useParams } from '@tanstack/react-router';
import { useMay } from '../../api/session.tsx';
import { DestinationFrame } from '../../shell/destination-frame.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { SettingsEditor } from './settings-editor.tsx';
import { SettingsSummary } from './settings-summary.tsx';
import { stateOf } from './settings-words.ts';

export function DestinationSettings() {
  const { id } = useParams({ from: '/shell/destinations/$id/settings' });
  return (
    <DestinationFrame id={id} tab="settings" sentence={sentenceOf}>
      {(destination) => <Settings key={destination.id} destination={destination} />}
    </DestinationFrame>
  );
}

function Settings({ destination }: { destination: Destination }) {
  return useMay('destinations:write') ? (
    <SettingsEditor destination={destination} />
  ) : (
    <SettingsSummary destination={destination} />
  );
}

function sentenceOf(destination: Destination) {
  const { name, words, meaning } = stateOf(destination);
  const { projection } = destination;
  return (
    <Sentence
      state={{ name, words: `${words}.` }}
      then={
        <>
          <OuterText text={destination.name} most={60} /> was last changed at{' '}
          <TimeText at={destination.updatedAt} withDistance />.
          {destination.paused && destination.pausedAt !== null && <PausedSince destination={destination} />}
          {projection.state !== 'applied' &&
            ` Deliver does not use the latest change yet${projection.why === null ? '.' : `: ${projection.why}`}`}
        </>
      }
    >
      {meaning}
    </Sentence>
  );
}

/** Only roles that may read the audit log learn who paused it. */
function PausedSince({ destination }: { destination: Destination }) {
  const name = destination.pausedBy?.name ?? destination.pausedBy?.email;
  return (
    <>
      {' '}
      {typeof name === 'string' ? (
        <>
          <OuterText text={name} most={40} /> paused it at
        </>
      ) : (
        'It is paused since'
      )}{' '}
      <TimeText at={destination.pausedAt ?? destination.updatedAt} />.
    </>
  );
}

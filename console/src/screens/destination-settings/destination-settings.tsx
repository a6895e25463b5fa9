/** The settings of a destination: all typed changes are saved together; state, secret and deletion act on their own. */
import type { Destination } from '@millrace/contract/control';
import { useParams } from '@tanstack/react-router';
import { DestinationFrame } from '../../parts/destination/destination-frame.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { SettingsEditor } from './settings-editor.tsx';
import { stateOf } from './settings-words.ts';

export function DestinationSettings() {
  const { id } = useParams({ from: '/shell/destinations/$id/settings' });
  return (
    <DestinationFrame id={id} tab="settings" sentence={sentenceOf}>
      {(destination) => <SettingsEditor key={destination.id} destination={destination} />}
    </DestinationFrame>
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
          {projection.state !== 'applied' &&
            ` Deliver does not use the latest change yet${projection.why === null ? '.' : `: ${projection.why}`}`}
        </>
      }
    >
      {meaning}
    </Sentence>
  );
}

/** Tries a destination without a delivery: one test, a check-up of its receiver, and its filters on stored events. */
import { SegmentedControl } from '@mantine/core';
import type { Destination } from '@millrace/contract/control';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMay } from '../../api/session.tsx';
import { DestinationFrame } from '../../shell/destination-frame.tsx';
import { savedTargets } from '../../parts/destination/draft.ts';
import { CheckUpPanel } from '../../parts/destination/trial/check-up-panel.tsx';
import { TestPanel } from '../../parts/destination/trial/test-panel.tsx';
import { Note } from '../../parts/note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { PreviewCard } from './preview-card.tsx';
import { readTab, TABS, trySentence } from './try-words.ts';

export function DestinationTry() {
  const { id } = useParams({ from: '/shell/destinations/$id/try' });
  return (
    <DestinationFrame id={id} tab="try" sentence={sentenceOf}>
      {(destination) => <Trials key={destination.id} destination={destination} />}
    </DestinationFrame>
  );
}

function sentenceOf(destination: Destination) {
  return (
    <Sentence then="A test is one request with X-Millrace-Test: true. It goes past the lane, is never retried and counts in no figure.">
      <OuterText text={destination.name} most={60} /> {trySentence(destination)}
    </Sentence>
  );
}

function Trials({ destination }: { destination: Destination }) {
  const { tab } = useSearch({ from: '/shell/destinations/$id/try' });
  const navigate = useNavigate();
  const mayWrite = useMay('destinations:write');
  const chosen = readTab(tab);
  const urls = savedTargets(destination.settings).map(({ url }) => url);
  const held = mayWrite ? undefined : 'It needs developer: your role may look, and not send.';
  return (
    <div className="stack">
      <div>
        <SegmentedControl
          aria-label="Way of trying"
          size="xs"
          data={[...TABS]}
          value={chosen}
          onChange={(next) => void navigate({ to: '.', search: next === 'test' ? {} : { tab: next }, replace: true })}
        />
      </div>
      {!mayWrite && chosen === 'test' && (
        <Note title="Sending a test needs developer.">
          Your role may read the report of the last check-up and try filters.
        </Note>
      )}
      {mayWrite && (
        <div hidden={chosen !== 'test'}>
          <TestPanel id={destination.id} urls={urls} sourceId={destination.sourceId} look="ink" />
        </div>
      )}
      {chosen === 'check-up' && <CheckUpPanel id={destination.id} urls={urls} held={held} look="ink" />}
      {chosen === 'preview' && <PreviewCard destination={destination} />}
    </div>
  );
}

import type { Destination } from '@millrace/contract/control';
import { CheckUpPanel } from '../../parts/destination/trial/check-up-panel.tsx';
import { savedTargets } from '../../parts/destination/draft.ts';
import { TestPanel } from '../../parts/destination/trial/test-panel.tsx';

/** Both use what is saved, so a change has to be saved before it can be tried. */
export function TryStep({ saved, isChanged }: { saved: Destination; isChanged: boolean }) {
  const urls = savedTargets(saved.settings).map(({ url }) => url);
  const held = isChanged ? 'Save the changes first: a test uses what is saved.' : undefined;
  return (
    <div className="stack">
      <TestPanel id={saved.id} urls={urls} title="5. Test" held={held} />
      <CheckUpPanel id={saved.id} urls={urls} title="5. Check-up" held={held} />
    </div>
  );
}

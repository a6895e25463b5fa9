/** How far it is, how far behind the events, and which events are not in it. */
import type { Definition } from '@millrace/contract/control';
import { counted } from '../../format/numbers.ts';
import { completenessWords, lagWords, standingOf } from '../../parts/audience/definition-standing.ts';
import { ProgressMeter } from '../../parts/audience/progress-meter.tsx';
import { Card, Facts } from '../../parts/card.tsx';
import { Note } from '../../parts/note.tsx';
import { StateBadge } from '../../parts/state-mark.tsx';
import { useNow } from '../../parts/use-now.ts';

export function StateCard({ definition, lagSeconds }: { definition: Definition; lagSeconds: number | null }) {
  const now = useNow(60_000);
  const { state, word } = standingOf(definition);
  const { progress, edit, firstSyncWaiting, missing } = definition;
  const lacking = completenessWords(definition, now);
  const gone = [
    ...(missing.sources.length > 0 ? [counted(missing.sources.length, 'source')] : []),
    ...(missing.destinations.length > 0 ? [counted(missing.destinations.length, 'destination')] : []),
  ];
  return (
    <Card title="State" right={<StateBadge state={state}>{word}</StateBadge>}>
      <div className="pad stack">
        <ProgressMeter progress={progress} label={firstSyncWaiting > 0 ? 'First sync' : 'Computation'} />
        {edit !== null && (
          <div>
            <p className="small soft">Version {edit.version}</p>
            <ProgressMeter progress={edit.progress} label={`Computation of version ${edit.version}`} />
          </div>
        )}
        <Facts
          facts={[
            [
              'First sync',
              firstSyncWaiting === 0 ? 'nothing waits' : `${counted(firstSyncWaiting, 'call')} to be sent`,
            ],
            ['Computation', lagWords(lagSeconds)],
            ['Events', lacking === undefined ? 'complete' : 'not all, see below'],
          ]}
        />
        {lacking !== undefined && (
          <Note state="retrying" title={lacking.title}>
            {lacking.sentence}
          </Note>
        )}
        {gone.length > 0 && (
          <Note state="retrying" title={`It goes on without ${gone.join(' and ')}:`}>
            they were deleted since. Edit it to take them out.
          </Note>
        )}
      </div>
    </Card>
  );
}

import type { Destination } from '@millrace/contract/control';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { toast } from '../../parts/toasts.tsx';
import { stateOf } from './settings-words.ts';

type Change = { enabled: boolean } | { paused: boolean };

/** Enable, disable, pause, resume: each can be undone, so each is done at once. */
export function StateCard({ destination }: { destination: Destination }) {
  const { enabled, paused } = destination;
  const set = useChange<Change, Destination>({
    method: 'PATCH',
    path: `/destinations/${destination.id}`,
    body: (change) => change,
    renews: ['/destinations', '/overview'],
  });
  const turn = (change: Change, back: Change, text: string) =>
    set.mutate(change, { onSuccess: () => toast({ text, undo: () => void set.mutateAsync(back).catch(tellError) }) });
  const state = stateOf(destination);
  return (
    <Card title="State">
      <div className="pad stack">
        <div className="btns">
          <StateText state={state.name}>{state.words}</StateText>
          <span className="soft">{state.meaning}</span>
        </div>
        <div className="btns">
          {enabled && (
            <Button
              isBusy={set.isPending}
              onClick={() =>
                paused
                  ? turn({ paused: false }, { paused: true }, 'Resumed: Millrace sends what waited.')
                  : turn({ paused: true }, { paused: false }, 'Paused: new events wait in its lane.')
              }
            >
              {paused ? 'Resume' : 'Pause'}
            </Button>
          )}
          <Button
            isBusy={set.isPending}
            onClick={() =>
              enabled
                ? turn({ enabled: false }, { enabled: true }, 'Disabled: new events skip it and are not kept for it.')
                : turn({ enabled: true }, { enabled: false }, 'Enabled: it gets new events from now on.')
            }
          >
            {enabled ? 'Disable' : 'Enable'}
          </Button>
        </div>
        {set.error !== null && <ProblemNote error={set.error} what="The state was not changed." />}
      </div>
    </Card>
  );
}

import type { Destination } from '@millrace/contract/control';
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { changeOf, draftOfDestination, type DestinationChange } from '../../parts/destination/draft.ts';
import { unfinished } from '../../parts/destination/filters/rules.ts';
import { Sift } from '../../parts/destination/filters/sift.tsx';
import { eventFormat } from '../../parts/destination/setting-fields.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { toast } from '../../parts/toasts.tsx';

/** Filters to play with: nothing of them is saved until somebody says so. */
export function PreviewCard({ destination }: { destination: Destination }) {
  const mayWrite = useMay('destinations:write');
  const [rules, setRules] = useState(() => draftOfDestination(destination).rules);
  const save = useChange<DestinationChange, Destination>({
    method: 'PATCH',
    path: `/destinations/${destination.id}`,
    body: (change) => change,
    renews: ['/destinations'],
  });
  const change = changeOf({ ...draftOfDestination(destination), rules }, destination, []);
  const back = () => setRules(draftOfDestination(destination).rules);
  // The person may have left the screen by then: only a promise tells how an undo ended.
  const undo = (filters: Destination['filters']) =>
    void save.mutateAsync({ filters }).then((undone) => setRules(draftOfDestination(undone).rules), tellError);
  const submit = () => {
    const before = destination.filters;
    if (change === undefined) return;
    save.mutate(change, {
      onSuccess: () =>
        toast({
          text: 'The filters are saved. They hold for new events from now on.',
          undo: () => undo(before),
        }),
    });
  };
  return (
    <Card
      title="Preview on history"
      aside="tried on stored events, nothing is sent or saved"
      right={
        change !== undefined && (
          <>
            <span className="small soft">The rules differ from the saved ones.</span>
            <Button small onClick={back}>
              Back to the saved ones
            </Button>
            {mayWrite && (
              <Button small look="ink" disabled={unfinished(rules) > 0} isBusy={save.isPending} onClick={submit}>
                Save the filters
              </Button>
            )}
          </>
        )
      }
    >
      {save.error !== null && (
        <div className="pad">
          <ProblemNote error={save.error} what="The filters were not saved." />
        </div>
      )}
      <Sift
        sourceId={destination.sourceId}
        rules={rules}
        bodyFormat={eventFormat(destination.settings.bodyFormat)}
        change={setRules}
      />
    </Card>
  );
}

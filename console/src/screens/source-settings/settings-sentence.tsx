import type { Source } from '@millrace/contract/control';
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';

type SettingsSentenceProps = { source: Source; destinations: number | undefined };

export function SettingsSentence({ source, destinations }: SettingsSentenceProps) {
  const name = <OuterText text={source.name} most={60} />;
  const actions = <EnableButton source={source} />;
  if (!source.enabled) {
    return (
      <Sentence
        state={{ name: 'paused', words: 'Disabled.' }}
        actions={actions}
        then="Collect answers 403 with source_disabled. Most libraries drop such calls, so they are lost."
      >
        Millrace refuses every call of {name}.
      </Sentence>
    );
  }
  const keys = source.writeKeys.length;
  return (
    <Sentence actions={actions}>
      {name} takes calls with {counted(keys, 'write key')}
      {destinations === undefined
        ? '.'
        : ` and sends them to ${destinations === 0 ? 'no destination yet' : counted(destinations, 'destination')}.`}
    </Sentence>
  );
}

/** Enabling loses nothing, so it is done at once. Calls are lost while a source is disabled, so that is asked first. */
function EnableButton({ source }: { source: Source }) {
  const [isAsking, setIsAsking] = useState(false);
  const change = useChange<boolean>({
    method: 'PATCH',
    path: `/sources/${source.id}`,
    body: (enabled) => ({ enabled }),
    renews: ['/sources'],
  });
  const set = (enabled: boolean) =>
    change.mutate(enabled, {
      onSuccess: () => {
        setIsAsking(false);
        toast({ text: enabled ? 'Millrace takes its calls again.' : 'Millrace refuses its calls from now on.' });
      },
      onError: (error) => !isAsking && toast({ text: `The source was not changed: ${error.message}` }),
    });
  if (!useMay('sources:write')) return null;
  if (!source.enabled) {
    return (
      <Button look="ink" isBusy={change.isPending} onClick={() => set(true)}>
        Enable
      </Button>
    );
  }
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>Disable</Button>
      <Confirm
        title="Disable the source"
        isOpen={isAsking}
        close={() => setIsAsking(false)}
        verb="Disable"
        keep="Keep it enabled"
        isBusy={change.isPending}
        error={change.error}
        confirm={() => set(false)}
      >
        <p>
          Millrace refuses every call of <OuterText text={source.name} most={60} /> until you enable it again. Calls
          that clients send meanwhile are lost. Stored events and deliveries stay.
        </p>
      </Confirm>
    </>
  );
}

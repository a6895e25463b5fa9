/** Sends everything again: for a receiver that has lost what it knew. */
import { NativeSelect } from '@mantine/core';
import type { Definition, Destination } from '@millrace/contract/control';
import { useState } from 'react';
import { DEFINITIONS } from '../../api/definitions.ts';
import { useChange } from '../../api/queries.ts';
import { counted } from '../../format/numbers.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';

type ResyncDialogProps = {
  definition: Definition;
  destinations: readonly Destination[];
  isOpen: boolean;
  close(): void;
};

export function ResyncDialog({ definition, destinations, isOpen, close }: ResyncDialogProps) {
  const [destinationId, setDestinationId] = useState('');
  const resync = useChange({
    method: 'POST',
    path: `${DEFINITIONS}/${definition.id}/resync`,
    body: () => (destinationId === '' ? {} : { destinationId }),
    renews: [DEFINITIONS],
  });
  const attached = destinations.filter(({ id }) => definition.destinations.includes(id));
  const only = attached.length === 1 ? attached[0] : undefined;
  const many = destinationId === '' ? definition.destinations.length : 1;
  const confirm = () =>
    resync.mutate(undefined, {
      onSuccess: () => {
        toast({ text: 'Everything is sent again.' });
        close();
      },
    });
  return (
    <Confirm
      title="Send everything again?"
      isOpen={isOpen}
      close={close}
      verb="Send again"
      keep="Not now"
      isBusy={resync.isPending}
      error={resync.error}
      confirm={confirm}
    >
      {definition.destinations.length > 1 && (
        <NativeSelect
          label="To"
          value={destinationId}
          data={[
            {
              value: '',
              label: `all ${definition.destinations.length} destinations`,
            },
            ...attached.map(({ id, name }) => ({ value: id, label: cutText(visible(name), 40) })),
          ]}
          onChange={(event) => setDestinationId(event.currentTarget.value)}
        />
      )}
      <p>
        {counted(definition.size * many, 'identify call')}: one for each of {counted(definition.size, 'user')}
        {only === undefined ? '' : `, to ${cutText(visible(only.name), 40)}`}. Receivers see again what they may know
        already; the sequence in each call tells which is newest.
      </p>
    </Confirm>
  );
}

import type { Source, WriteKey } from '@millrace/contract/control';
import { useChange } from '../../api/queries.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';

type RevokeDialogProps = { source: Source; writeKey: WriteKey; isLast: boolean; close(): void };

export function RevokeDialog({ source, writeKey: { id, key, label, lastUsedAt }, isLast, close }: RevokeDialogProps) {
  const revoke = useChange({ method: 'DELETE', path: `/sources/${source.id}/write-keys/${id}`, renews: ['/sources'] });
  const name = cutText(visible(label), 40);
  const confirm = () =>
    revoke.mutate(undefined, {
      onSuccess: () => {
        close();
        toast({ text: `Revoked “${name}”. Collect refuses calls with it.` });
      },
    });
  return (
    <Confirm
      title="Revoke the write key"
      isOpen
      close={close}
      verb={`Revoke ${name}`}
      // The end of the key is what a person sees in the code that uses it.
      typed={key.slice(-6)}
      isBusy={revoke.isPending}
      error={revoke.error}
      confirm={confirm}
    >
      <p>
        Collect answers 401 with <code>invalid_write_key</code> to calls with this key, within seconds and for good.
        Clients drop such calls.
      </p>
      <p>
        {lastUsedAt === null ? (
          'No call ever came with it.'
        ) : (
          <>
            <b>The last call with it came at</b> <TimeText at={lastUsedAt} withDistance />.
          </>
        )}{' '}
        {isLast && <b>It is the only key of this source: after that no call can come in.</b>}
      </p>
      <p className="dim">
        Its end: <code>{key.slice(-6)}</code>
      </p>
    </Confirm>
  );
}

/** Letters of one error class are retried one after another: a redrive of the API takes no error class. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { askControl } from '../../api/ask-control.ts';
import { renew } from '../../api/queries.ts';
import { counted } from '../../format/numbers.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import { classWords, type TellingLetter } from './letters.ts';

type RetryShownProps = { letters: readonly TellingLetter[]; errorClass: string; isOpen: boolean; close(): void };

export function RetryShown({ letters, errorClass, isOpen, close }: RetryShownProps) {
  const client = useQueryClient();
  const [sent, setSent] = useState(0);
  const retry = useMutation({
    mutationFn: async () => {
      let done = 0;
      for (const { id } of letters) {
        await askControl(`/dead-letters/${encodeURIComponent(id)}/retry`, { method: 'POST' });
        done += 1;
        setSent(done);
      }
      return done;
    },
    onSuccess: (done) => {
      toast({ text: `Millrace sends ${counted(done, 'delivery', 'deliveries')} again now.` });
      close();
    },
    onSettled: () => renew(client, ['/dead-letters', '/deliveries', '/overview']),
  });
  const many = counted(letters.length, 'delivery', 'deliveries');
  return (
    <Confirm
      title={`Retry ${many}?`}
      isOpen={isOpen}
      close={close}
      verb={retry.isPending ? `${sent} of ${letters.length}` : `Retry ${many}`}
      keep="Keep them as dead letters"
      isBusy={retry.isPending || letters.length === 0}
      error={retry.error}
      confirm={() => {
        setSent(0);
        retry.mutate();
      }}
    >
      <p>
        These are the loaded dead letters with the error “{classWords(errorClass)}” (<code>{errorClass}</code>).
        Millrace attempts each again for up to four hours. Receivers may see duplicates; the webhook-id stays the same.
      </p>
    </Confirm>
  );
}

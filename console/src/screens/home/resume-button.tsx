import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { localSentence } from '../../format/sentences.ts';
import { Button, type Look } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { toast } from '../../parts/toasts.tsx';

type ResumeButtonProps = { destinationId: string; sentence: string; look: Look; small: boolean };

/** Resuming sends what waits, so it shows first how much that is. */
export function ResumeButton({ destinationId, sentence, ...look }: ResumeButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  const set = useChange<boolean>({
    method: 'PATCH',
    path: `/destinations/${destinationId}`,
    body: (paused) => ({ paused }),
    renews: ['/overview', '/destinations'],
  });
  const resume = () =>
    set.mutate(false, {
      onSuccess: () => {
        setIsOpen(false);
        toast({
          text: 'Resumed. Millrace sends what waits.',
          undo: () => void set.mutateAsync(true).catch(tellError),
        });
      },
    });
  return (
    <>
      <Button {...look} onClick={() => setIsOpen(true)}>
        Resume
      </Button>
      <Confirm
        title="Resume this destination?"
        verb="Resume"
        keep="Keep paused"
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={set.isPending}
        error={set.error}
        confirm={resume}
      >
        <p className="outer">{localSentence(sentence)}</p>
        <p>Millrace then sends what waits, oldest first, and each delivery has its full four hours from that moment.</p>
      </Confirm>
    </>
  );
}

import type { AttemptNow, Destination, Lane } from '@millrace/contract/control';
import { useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { localSentence } from '../../format/sentences.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { toast } from '../../parts/toasts.tsx';

/** Pausing can be undone, so it happens at once. A probe sends one delivery that waits anyway. */
export function HealthActions({ destination, lane }: { destination: Destination; lane: Lane | null }) {
  const { id, paused, enabled } = destination;
  const may = useMay('destinations:write');
  const renews = [`/destinations/${id}`, '/destinations', '/overview'];
  const pause = useChange<boolean>({
    method: 'PATCH',
    path: `/destinations/${id}`,
    body: (isPaused) => ({ paused: isPaused }),
    renews,
  });
  const probe = useChange<void, AttemptNow>({ method: 'POST', path: `/destinations/${id}/probe`, renews });
  const set = (isPaused: boolean) => {
    pause.mutate(isPaused, {
      onSuccess: () =>
        toast({
          text: isPaused ? 'Paused. New events wait in the lane.' : 'Resumed. Millrace sends what waits.',
          undo: () => void pause.mutateAsync(!isPaused).catch(tellError),
        }),
      onError: tellError,
    });
  };
  if (!may) return null;
  const canProbe = enabled && !paused && (lane?.depth ?? 0) > 0;
  return (
    <>
      {enabled && (
        <Button look={paused ? 'ink' : 'plain'} isBusy={pause.isPending} onClick={() => set(!paused)}>
          <Icon name={paused ? 'send' : 'pauseb'} />
          {paused ? 'Resume' : 'Pause'}
        </Button>
      )}
      <LinkButton to="/destinations/$id/try" params={{ id }}>
        <Icon name="send" />
        Send test
      </LinkButton>
      {canProbe && (
        <Button
          look="ink"
          isBusy={probe.isPending}
          onClick={() =>
            probe.mutate(undefined, {
              onSuccess: ({ sentence }) => toast({ text: localSentence(sentence) }),
              onError: tellError,
            })
          }
        >
          {lane?.state === 'failing' ? 'Probe now' : 'Attempt now'}
        </Button>
      )}
    </>
  );
}

/** The sentence of a destination, and what can be done about it. */
import type { Destination, DestinationHealth, Overview, TargetErrors } from '@millrace/contract/control';
import type { UseQueryResult } from '@tanstack/react-query';
import { localSentence } from '../../format/sentences.ts';
import { visible } from '../../format/texts.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { useNow } from '../../parts/use-now.ts';
import { HealthActions } from './health-actions.tsx';
import { tellHealth } from '../../parts/destination/health/tell-health.ts';

type HealthLeadProps = {
  destination: Destination;
  health: UseQueryResult<DestinationHealth>;
  errors: TargetErrors | undefined;
  overview: Overview | undefined;
};

export function HealthLead({ destination, health, errors, overview }: HealthLeadProps) {
  const now = useNow(10_000);
  const actions = <HealthActions destination={destination} lane={health.data?.lane ?? null} />;
  if (health.data === undefined) {
    if (health.error === null) return <LoadingRows rows={3} />;
    return (
      <Sentence
        then={<ProblemNote error={health.error} what="Health is not known." retry={() => void health.refetch()} />}
        actions={actions}
      >
        Health is not known. Deliveries go on all the same.
      </Sentence>
    );
  }
  const told = tellHealth({
    destination,
    health: health.data,
    errors,
    waiting: waitingOf(overview, destination.id, now),
    now,
  });
  return (
    <>
      <Sentence
        state={{ name: told.state, words: visible(told.lead) }}
        then={told.after}
        todo={visible(told.todo)}
        actions={actions}
      >
        {visible(told.sentence)}
      </Sentence>
      {health.error !== null && (
        <div className="mt">
          <ProblemNote error={health.error} what="This is how it last stood: the health cannot be read again." />
        </div>
      )}
      {destination.projection.state === 'failed' && (
        <ProblemNote
          error={destination.projection.why ?? 'The configuration has no room for it.'}
          what="The latest change of this destination is not in effect."
        />
      )}
    </>
  );
}

/** The overview ends its sentence about a lane with how many wait and when it gives up the oldest. */
function waitingOf(overview: Overview | undefined, id: string, now: number): string | undefined {
  const found = overview?.attention.find(
    ({ kind, destinationId }) =>
      destinationId === id && (kind === 'destination_failing' || kind === 'destination_asked_to_wait'),
  );
  const last = found?.sentence.split('. ').at(-1);
  return last === undefined ? undefined : localSentence(last, now);
}

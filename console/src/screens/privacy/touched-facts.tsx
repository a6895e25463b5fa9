import type { Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { readingDefinitions } from '../../api/definitions.ts';
import { listed } from '../../format/listed.ts';
import { count } from '../../format/numbers.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Facts } from '../../parts/card.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { atLeast, destinationsTold, toldWords, type Touched } from './touched.ts';
import { type Sought, useRecordedCount, useStoredCount } from './use-touched.ts';

export function TouchedFacts({ sought }: { sought: Sought }) {
  const recorded = useRecordedCount(sought);
  const stored = useStoredCount(sought);
  const definitions = useQuery(readingDefinitions());
  const { told, notTold } = destinationsTold(sought.destinations, sought.sources, definitions.data?.items ?? []);
  const again = () => void Promise.all([recorded.refetch(), stored.refetch(), definitions.refetch()]);
  const error = recorded.error ?? stored.error ?? definitions.error;
  const isNowhere = !sought.hasMoreSources && recorded.data?.count === 0 && stored.data?.count === 0;
  return (
    <>
      <p>
        Millrace sends a <code>delete</code> to{' '}
        {definitions.isPending ? 'its destinations' : toldWords(told.length === 0 ? '' : names(told), sought)} and then
        erases:
      </p>
      <Facts
        facts={[
          ['Deliveries', deliveryWords(recorded.data)],
          ['Dead letters', letterWords(recorded.data)],
          ['Stored events', storedWords(stored.data)],
          ['Also', 'samples of refused calls with the id, and the id in replays'],
          ...(notTold.length === 0 ? [] : [['Not told', `${names(notTold)} (disabled)`] as const]),
        ]}
      />
      {error !== null && <ProblemNote error={error} what="Millrace cannot count all of it." retry={again} />}
      {isNowhere && (
        <p className="soft">
          <b>Millrace finds nothing with this user id.</b> Upper and lower case matter. Events that carry only an
          anonymousId are not found.
        </p>
      )}
    </>
  );
}

const COUNTING = 'counting…';

function deliveryWords(deliveries: Touched['deliveries'] | undefined): string {
  if (deliveries === undefined) return COUNTING;
  return `${atLeast(deliveries, 'record')}, of which ${count(deliveries.waiting)} still wait`;
}

function letterWords(deliveries: Touched['deliveries'] | undefined): string {
  if (deliveries === undefined) return COUNTING;
  return deliveries.givenUp === 0 ? 'none in the record' : `up to ${count(deliveries.givenUp)}`;
}

function storedWords(stored: Touched['stored'] | undefined): string {
  return stored === undefined
    ? COUNTING
    : `${atLeast(stored, 'event')}: never sent or shown again; they expire by themselves`;
}

function names(destinations: readonly Destination[]): string {
  return listed(
    destinations.map(({ name }) => cutText(visible(name), 40)),
    8,
  );
}

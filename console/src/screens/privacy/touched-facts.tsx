import type { Destination } from '@millrace/contract/control';
import { listed } from '../../format/listed.ts';
import { count } from '../../format/numbers.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Facts } from '../../parts/card.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { atLeast, type Touched } from './touched.ts';
import { type Sought, useTouched } from './use-touched.ts';

export function TouchedFacts({ sought }: { sought: Sought }) {
  const read = useTouched(sought);
  if (read.isLoading) return <LoadingRows rows={3} />;
  if (read.error !== null)
    return (
      <ProblemNote error={read.error} what="Millrace cannot count what it touches." retry={() => void read.refetch()} />
    );
  if (read.data === undefined) return null;
  return <Shown touched={read.data} />;
}

function Shown({ touched: { told, notTold, stored, deliveries } }: { touched: Touched }) {
  return (
    <>
      <p>
        Millrace sends a <code>delete</code> to {told.length === 0 ? 'no destination' : names(told)} and then erases:
      </p>
      <Facts
        facts={[
          ['Deliveries', `${atLeast(deliveries, 'record')}, of which ${count(deliveries.waiting)} still wait`],
          ['Dead letters', deliveries.givenUp === 0 ? 'none in the record' : `up to ${count(deliveries.givenUp)}`],
          ['Stored events', `${atLeast(stored, 'event')}: never sent or shown again; they expire by themselves`],
          ['Also', 'samples of refused calls with the id, and the id in replays'],
          ...(notTold.length === 0 ? [] : [['Not told', `${names(notTold)} (disabled)`] as const]),
        ]}
      />
      {deliveries.count === 0 && stored.count === 0 && (
        <p className="soft">
          <b>Millrace finds nothing with this user id.</b> Upper and lower case matter. Events that carry only an
          anonymousId are not found.
        </p>
      )}
    </>
  );
}

function names(destinations: readonly Destination[]): string {
  return listed(
    destinations.map(({ name }) => cutText(visible(name), 40)),
    8,
  );
}

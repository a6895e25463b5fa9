import type { ConnectionCheck } from '@millrace/contract/control';
import { useChange } from '../../../api/queries.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { StateMark } from '../../../parts/state-mark.tsx';
import { OuterText } from '../../../parts/texts.tsx';

const NAMES: Record<ConnectionCheck['steps'][number]['step'], string> = {
  address: 'Address',
  discovery: 'Discovery document',
  features: 'Features',
  keys: 'Keys',
  client: 'Client',
};

/** Asks the provider without signing anybody in. */
export function TestCard() {
  const test = useChange<void, ConnectionCheck>({ method: 'POST', path: '/single-sign-on/test' });
  return (
    <Card
      title="Test"
      right={
        <Button small isBusy={test.isPending} onClick={() => test.mutate()}>
          Test the connection
        </Button>
      }
    >
      <div className="pad" role="status">
        {test.error !== null && <ProblemNote error={test.error} what="It was not tested." />}
        {test.data === undefined ? (
          <p className="dim">Millrace asks the provider, and says what fails. Nobody is signed in.</p>
        ) : (
          <ul>
            {test.data.steps.map(({ step, ok, detail }) => (
              <li key={step}>
                <StateMark state={ok ? 'delivered' : 'givenup'} /> <b>{NAMES[step]}</b> {ok ? 'works' : 'fails'}.{' '}
                <OuterText text={detail} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}

import type { DeadLetterDetails, Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { milliseconds } from '../../format/numbers.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Facts } from '../../parts/card.tsx';
import { Json } from '../../parts/code.tsx';
import { SideDrawer } from '../../parts/dialog.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { WithoutPayloads } from '../../parts/without-payloads.tsx';
import { IdText, OuterLink, OuterText, TimeText, UrlText } from '../../parts/texts.tsx';
import { KEPT_MS, REASONS } from './letters.ts';

type Details = Static<typeof DeadLetterDetails>;
type LetterDrawerProps = {
  id: string | undefined;
  destinations: readonly Destination[];
  close(): void;
  retry(id: string): void;
};

/** One dead letter: why Millrace gave it up, its latest attempts, its event. */
export function LetterDrawer({ id, destinations, close, retry }: LetterDrawerProps) {
  const read = useQuery({
    ...reading<Details>(`/dead-letters/${encodeURIComponent(id ?? '')}`, { enabled: id !== undefined }),
    placeholderData: () => undefined,
  });
  return (
    <SideDrawer title="Dead letter" isOpen={id !== undefined} close={close}>
      {read.isLoading && <LoadingRows />}
      {read.error !== null && (
        <ProblemNote error={read.error} what="This dead letter cannot be shown. It may have been sent again." />
      )}
      {read.data !== undefined && <Shown letter={read.data} destinations={destinations} retry={retry} />}
    </SideDrawer>
  );
}

type ShownProps = Pick<LetterDrawerProps, 'destinations' | 'retry'> & { letter: Details };

function Shown({ letter, destinations, retry }: ShownProps) {
  const mayRetry = useMay('dead-letters:write');
  const maySee = useMay('payloads:read');
  const { destinationId, messageId, deliveryId } = letter;
  const name = destinations.find(({ id }) => id === destinationId)?.name;
  return (
    <div className="stack">
      <p>
        <b>{REASONS[letter.reason].label}.</b> {REASONS[letter.reason].why}
      </p>
      <div className="btns">
        {mayRetry && <Button onClick={() => retry(letter.id)}>Retry…</Button>}
        <LinkButton look="quiet" to="/deliveries/$id" params={{ id: deliveryId }}>
          Open delivery
        </LinkButton>
        <LinkButton look="quiet" to="/events/$messageId" params={{ messageId }}>
          Open journey
        </LinkButton>
      </div>
      <Facts
        facts={[
          [
            'Destination',
            name === undefined ? (
              <IdText key="d" id={destinationId} />
            ) : (
              <OuterLink key="d" to="/destinations/$id" params={{ id: destinationId }} text={name} />
            ),
          ],
          ['Given up', <TimeText key="g" at={letter.deadAt} withDistance />],
          ['Kept until', <TimeText key="k" at={Date.parse(letter.deadAt) + KEPT_MS} withDistance />],
          ['Attempts', String(letter.attempts)],
          ['webhook-id', <IdText key="w" id={deliveryId} />],
          ['messageId', <IdText key="m" id={messageId} />],
          ['Reason', <code key="r">{letter.reason}</code>],
        ]}
      />
      <Attempts history={letter.history} />
      {!maySee && <WithoutPayloads what="The properties, traits and ids of the event are" />}
      <Json value={letter.event} label="the event" foldsAfter={40} />
    </div>
  );
}

function Attempts({ history }: { history: Details['history'] }) {
  if (history.length === 0) return <p className="dim">Millrace made no attempt.</p>;
  return (
    <section>
      <h3 className="small dim">Latest attempts, oldest first</h3>
      <ul className="stack" style={{ gap: 6 }}>
        {history.map(({ at, answers }) => (
          <li key={at}>
            <TimeText at={at} />
            {answers.map(({ url, status, error, ms }) => (
              <div key={url} className="small soft">
                <UrlText url={url} />{' '}
                {status === undefined ? <OuterText text={error ?? 'no answer'} most={200} /> : `answered ${status}`}{' '}
                <span className="dim">after {milliseconds(ms)}</span>
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

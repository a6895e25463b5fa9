/** The summary of one delivery beside its list. */
import { standingOf } from '../../format/standings.ts';
import type { DeliveryDetails } from '@millrace/contract/control';
import { eventName } from '../delivery/delivery-words.ts';
import { cutText, hostOf, visible } from '../../format/texts.ts';
import { LinkButton } from '../button.tsx';
import { Facts } from '../card.tsx';
import { Code } from '../code.tsx';
import { SideDrawer } from '../dialog.tsx';
import { LoadingRows } from '../list-states.tsx';
import { ProblemNote } from '../problem-note.tsx';
import { StateText } from '../state-mark.tsx';
import { IdText, OuterText, TimeText } from '../texts.tsx';
import { useNow } from '../use-now.ts';
import { answerState } from '../delivery/attempt-phases.ts';
import { answerSentence, tellDelivery } from '../delivery/tell-delivery.ts';
import { RetryButton } from '../delivery/retry-button.tsx';
import { useDelivery } from '../delivery/use-delivery.ts';

export function DeliveryDrawer({ id, close }: { id: string | undefined; close(): void }) {
  const { read, onSentAgain } = useDelivery(id);
  const delivery = read.data?.id === id ? read.data : undefined;
  const title = delivery === undefined ? 'Delivery' : cutText(visible(eventName(delivery)), 60);
  return (
    <SideDrawer title={title} isOpen={id !== undefined} close={close}>
      {delivery !== undefined ? (
        <Summary delivery={delivery} onSentAgain={onSentAgain} />
      ) : read.error === null ? (
        <LoadingRows />
      ) : (
        <ProblemNote error={read.error} what="The delivery cannot be shown." retry={() => void read.refetch()} />
      )}
    </SideDrawer>
  );
}

function Summary({ delivery, onSentAgain }: { delivery: DeliveryDetails; onSentAgain(): void }) {
  const now = useNow(1_000);
  const told = tellDelivery({ delivery, lane: null, now });
  const { id, messageId, sourceId, receivedAt, userId, anonymousId, type, attempts, errorClass } = delivery;
  const user = userId ?? anonymousId;
  return (
    <div className="stack">
      <p>
        <StateText state={standingOf(delivery.state).state}>{told.lead}</StateText> {visible(told.sentence)}
        <span className="block dim">{visible(told.after)}</span>
      </p>
      <div className="btns">
        <LinkButton to="/deliveries/$id" params={{ id }}>
          Open delivery
        </LinkButton>
        <LinkButton to="/events/$messageId" params={{ messageId }} search={{ sourceId }}>
          Open event
        </LinkButton>
        <RetryButton delivery={delivery} onSentAgain={onSentAgain} />
      </div>
      <Facts
        facts={[
          ['Received', <TimeText key="r" at={receivedAt} withDistance />],
          ['Type', type],
          ['User', user === null ? 'none' : <OuterText key="u" text={user} />],
          ['Attempts', String(attempts)],
          ...(errorClass === null ? [] : [['Last error', <code key="e">{errorClass}</code>] as const]),
          ['webhook-id', <IdText key="i" id={id} />],
          ['messageId', <IdText key="m" id={messageId} />],
        ]}
      />
      <LastAnswers delivery={delivery} now={now} />
    </div>
  );
}

function LastAnswers({ delivery, now }: { delivery: DeliveryDetails; now: number }) {
  const last = delivery.history.at(-1);
  if (last === undefined || last.answers.length === 0) return null;
  return (
    <section className="stack">
      <b>
        Last attempt, <TimeText at={last.at} />
      </b>
      {last.answers.map((answer) => (
        <div key={answer.url}>
          <StateText state={answerState(answer)}>{visible(answerSentence(answer, now))}</StateText>
          {answer.body !== undefined && answer.body !== '' && (
            <Code text={answer.body} label={`response of ${hostOf(answer.url)}`} foldsAfter={8} />
          )}
        </div>
      ))}
    </section>
  );
}

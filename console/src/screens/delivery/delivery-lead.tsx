import type { DeliveryDetails, Destination, Lane } from '@millrace/contract/control';
import { visible } from '../../format/texts.ts';
import { LinkButton } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { useNow } from '../../parts/use-now.ts';
import { curlOf } from './curl.ts';
import { RetryButton } from '../../parts/delivery/retry-button.tsx';
import { tellDelivery } from '../../parts/delivery/tell-delivery.ts';
import { useRequest } from './use-request.ts';
import type { Chosen } from './use-chosen.ts';

type DeliveryLeadProps = {
  delivery: DeliveryDetails;
  destination: Destination | undefined;
  lane: Lane | null;
  chosen: Chosen | undefined;
  onSentAgain(): void;
};

export function DeliveryLead({ delivery, destination, lane, chosen, onSentAgain }: DeliveryLeadProps) {
  const now = useNow(1_000);
  const told = tellDelivery({ delivery, lane, now });
  const { rebuilt } = useRequest(delivery, destination, chosen);
  const curl = rebuilt === undefined ? undefined : <CopyButton text={curlOf(rebuilt.request)}>Copy as curl</CopyButton>;
  return (
    <>
      <Sentence
        state={{ name: told.state, words: told.lead }}
        then={visible(told.after)}
        actions={
          <>
            {curl}
            <LinkButton
              to="/events/$messageId"
              params={{ messageId: delivery.messageId }}
              search={{ sourceId: delivery.sourceId }}
            >
              Open event
            </LinkButton>
            {lane?.state !== 'paused' && <RetryButton delivery={delivery} onSentAgain={onSentAgain} />}
          </>
        }
      >
        {visible(told.sentence)}
      </Sentence>
      {delivery.isErased && (
        <Note title="Its user was erased.">Millrace no longer keeps the ids of the user and the answers.</Note>
      )}
    </>
  );
}

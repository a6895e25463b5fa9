import type { Delivery } from '@millrace/contract/control';
import { deliveryWords, STATE_OF } from './delivery-words.ts';
import { StateText } from '../state-mark.tsx';

/** The state of a delivery as a cell of a table shows it: "Retrying, 503". */
export function DeliveryState({ delivery }: { delivery: Delivery }) {
  return <StateText state={STATE_OF[delivery.state]}>{deliveryWords(delivery)}</StateText>;
}

import { standingOf } from '../../format/standings.ts';
import type { Delivery } from '@millrace/contract/control';
import { deliveryWords } from './delivery-words.ts';
import { StateText } from '../state-mark.tsx';

/** The state of a delivery as a cell of a table shows it: "Retrying, 503". */
export function DeliveryState({ delivery }: { delivery: Delivery }) {
  return <StateText state={standingOf(delivery.state).state}>{deliveryWords(delivery)}</StateText>;
}

/** The state of a delivery in words: "waiting" for `pending`, "given up" for `discarded` and `expired`. */
import type { Delivery } from '@millrace/contract/control';
import { shortWords } from '../../format/codes.ts';
import { lowerFirst } from '../../format/sentences.ts';
import { standingOf } from '../../format/standings.ts';

export const STATE_WORDS: Readonly<Record<Delivery['state'], string>> = {
  pending: 'Waiting',
  retrying: 'Retrying',
  delivered: 'Delivered',
  discarded: 'Given up',
  expired: 'Given up after 4 hours',
  skipped: 'Skipped',
};

/** Whether a later look may show another state. A given-up delivery keeps its id when it is sent again. */
export function mayChange({ state }: Pick<Delivery, 'state'>, isSentAgain: boolean): boolean {
  return state === 'pending' || state === 'retrying' || (standingOf(state).state === 'givenup' && isSentAgain);
}

type Told = Pick<Delivery, 'state' | 'lastStatus' | 'errorClass' | 'reason'>;

/** For one cell of a table: the state and the cause in few words. */
export function deliveryWords({ state, lastStatus, errorClass, reason }: Told): string {
  const words = STATE_WORDS[state];
  if (state === 'delivered') return lastStatus === null ? words : `${words}, ${lastStatus}`;
  if (state === 'pending') return 'Waiting in the lane';
  if (state === 'skipped') return `${words}, ${reasonWords(reason)}`;
  if (errorClass === null) return reason === null ? words : `${words}, ${reasonWords(reason)}`;
  const status = /^http_(\d{3})$/.exec(errorClass)?.[1];
  return `${words}, ${status ?? lowerFirst(shortWords(errorClass))}`;
}

const REASONS: Readonly<Record<string, string>> = {
  filtered: 'by a filter',
  destination_disabled: 'destination disabled',
  integrations_map: 'by its sender',
  blocked_event: 'event blocked',
  type_not_accepted: 'type not accepted',
  suppressed: 'user suppressed',
  erased: 'user erased',
  expired: 'four hours over',
  lane_full: 'lane full',
  destination_deleted: 'destination deleted',
  letter_refused: 'no room for its dead letter',
};

function reasonWords(reason: string | null): string {
  return reason === null ? 'no reason noted' : (REASONS[reason] ?? reason);
}

/** Keeps abbreviations such as "URL" and "TLS". */

/** The name of its event, or the type where it has none. */
export function eventName({ name, type }: Pick<Delivery, 'name' | 'type'>): string {
  return name ?? type;
}

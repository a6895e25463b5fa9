/** The words and shapes of the states of deliveries, and of the outcomes of attempts. */
import type { StateName } from './state-name.ts';

export type Standing = { state: StateName; word: string };

const STANDINGS: Readonly<Record<string, Standing>> = {
  pending: { state: 'waiting', word: 'Waiting' },
  waiting: { state: 'waiting', word: 'Waiting' },
  retry: { state: 'retrying', word: 'Retrying' },
  retrying: { state: 'retrying', word: 'Retrying' },
  delivered: { state: 'delivered', word: 'Delivered' },
  discarded: { state: 'givenup', word: 'Given up' },
  expired: { state: 'givenup', word: 'Given up' },
  skipped: { state: 'skipped', word: 'Skipped' },
};

export function standingOf(name: string): Standing {
  return STANDINGS[name] ?? { state: 'waiting', word: name };
}

/** The reasons for which an event is not sent to a destination, as the middle of a sentence. */
const SKIP_WORDS: Readonly<Record<string, string>> = {
  erased: 'its user was erased',
  suppressed: 'its user is suppressed',
  destination_disabled: 'the destination was not enabled',
  integrations_map: 'the call turns this kind of destination off (integrations)',
  blocked_event: 'the source blocks this event name',
  type_not_accepted: 'the destination does not take calls of this type',
  filtered: "the destination's filter stops it",
  expired: 'no longer stored',
  gone: 'no longer stored',
};

export function skipWords(reason: string): string {
  return SKIP_WORDS[reason] ?? reason.replaceAll('_', ' ');
}

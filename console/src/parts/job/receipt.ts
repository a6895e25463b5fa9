/** The receipt of a deletion request in words, by store and by destination. */
import type { DeletionRequest } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { listed } from '../../format/listed.ts';
import { count, counted } from '../../format/numbers.ts';
import { standingOf, type Standing } from '../../format/standings.ts';
import { moment } from '../../format/times.ts';
import { isOpen } from './job-words.ts';

export type Deletion = Static<typeof DeletionRequest>;
export type Notification = Deletion['receipt']['notifications'][number];

/** The stores that Millrace erases, in the order of the flow, with what it does in each. */
export const STORES: readonly { name: string; label: string; effect: string }[] = [
  { name: 'lanes', label: 'Lanes', effect: 'waiting deliveries are removed' },
  { name: 'deadLetters', label: 'Dead letters', effect: 'removed, and overwritten on disk' },
  { name: 'deliveries', label: 'Delivery records', effect: 'ids erased; how each ended is kept' },
  { name: 'attempts', label: 'Attempts', effect: 'answers of receivers erased' },
  { name: 'samples', label: 'Samples of refused calls', effect: 'samples that hold the id erased' },
  { name: 'replays', label: 'Replays by user', effect: 'the id replaced by its hash' },
  { name: 'profiles', label: 'Profiles', effect: 'removed, with every id that is linked to them' },
  { name: 'memberships', label: 'Memberships and computed traits', effect: 'removed' },
  { name: 'history', label: 'Changes of memberships', effect: 'removed' },
];

export function erasedCount({ receipt }: Pick<Deletion, 'receipt'>): number {
  return Object.values(receipt.erased).reduce((sum, found) => sum + found, 0);
}

/** The state of a notification: without a record it is still on its way. */
export function standingOfNotice({ outcome }: Pick<Notification, 'outcome'>): Standing {
  return outcome === null ? { state: 'waiting', word: 'Waiting' } : standingOf(outcome);
}

export function isSettled({ receipt }: Pick<Deletion, 'receipt'>): boolean {
  return receipt.notifications.every(
    ({ outcome }) => outcome !== null && outcome !== 'pending' && outcome !== 'retrying',
  );
}

/** Receivers may take the notification hours after the erasure is done. A request that failed or was cancelled stays as it is. */
export function nextLookMs(deletion: Pick<Deletion, 'state' | 'receipt'> | undefined): number | false {
  if (deletion === undefined || isOpen(deletion)) return 2_000;
  return deletion.state === 'done' && !isSettled(deletion) ? 10_000 : false;
}

/** "4 of 6 destinations have the notification." */
export function noticeWords({ receipt }: Pick<Deletion, 'receipt'>): string {
  const { notifications } = receipt;
  if (notifications.length === 0) return 'No destination was to be told.';
  const has = notifications.filter(({ outcome }) => outcome === 'delivered').length;
  if (has === notifications.length)
    return `${has === 1 ? 'The destination has' : `All ${count(has)} destinations have`} the notification.`;
  return `${count(has)} of ${counted(notifications.length, 'destination')} ${has === 1 ? 'has' : 'have'} the notification.`;
}

/** The sentence of a request after the word for its state. */
export function deletionSentence(deletion: Deletion, now: number): string {
  const users = deletion.userHashes.length === 1 ? 'The user is' : `${count(deletion.userHashes.length)} users are`;
  switch (deletion.state) {
    case 'done':
      return `${users} erased in Millrace since ${moment(deletion.endedAt ?? deletion.updatedAt, now)}. ${noticeWords(deletion)}`;
    case 'running':
      return 'Millrace tells the destinations and erases its own stores. That takes ten seconds or more.';
    case 'paused':
      return 'The request waits until a member resumes it.';
    case 'cancelled':
      return 'The request ended before all stores were erased.';
    case 'failed':
      return 'Millrace could not finish it.';
  }
}

/** The names of destinations that do not have the notification, by what became of it. */
export function troubleWords(deletion: Deletion, nameOf: (id: string) => string): string | undefined {
  const named = (wanted: (outcome: string | null) => boolean) =>
    deletion.receipt.notifications
      .filter(({ outcome }) => wanted(outcome))
      .map(({ destinationId }) => nameOf(destinationId));
  const rejected = named((outcome) => outcome === 'discarded' || outcome === 'expired');
  const waiting = named((outcome) => outcome === null || outcome === 'pending' || outcome === 'retrying');
  const parts = [
    ...(waiting.length === 0
      ? []
      : [`${listed(waiting)} ${waiting.length === 1 ? 'gets' : 'get'} it as soon as the receiver takes deliveries.`]),
    ...(rejected.length === 0
      ? []
      : [
          `${listed(rejected)} did not take it: the notification is a dead letter, with the id in it. Repair the receiver and retry it.`,
        ]),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}

export function receiptFile(deletion: Deletion): { name: string; text: string } {
  return { name: `deletion-receipt-${deletion.id}.json`, text: `${JSON.stringify(deletion, null, 2)}\n` };
}

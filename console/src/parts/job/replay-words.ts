/** A replay in words: its range, its filter, its result. */
import type { Replay } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { count, counted } from '../../format/numbers.ts';
import { listed } from '../../format/listed.ts';
import { skipWords } from '../../format/standings.ts';
import { cutText, visible } from '../../format/texts.ts';
import { moment } from '../../format/times.ts';
import { type Job, skippedCount } from './job-words.ts';

export type ReplayJob = Static<typeof Replay>;

const MOST_NAME = 40;

/** "Order Completed and Order Refunded, users u_1 and u_2"; undefined for all events. */
export function filterWords(filter: ReplayJob['asked']['filter']): string | undefined {
  const cut = (texts: readonly string[]) => listed(texts.map((text) => cutText(visible(text), MOST_NAME)));
  const parts = [
    ...(filter?.types === undefined ? [] : [`type ${cut(filter.types)}`]),
    ...(filter?.events === undefined ? [] : [cut(filter.events)]),
    ...(filter?.userIds === undefined
      ? []
      : [`${filter.userIds.length === 1 ? 'user' : 'users'} ${cut(filter.userIds)}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

export function rangeWords({ from, to }: Pick<ReplayJob['asked'], 'from' | 'to'>, now: number): string {
  return `${moment(from, now)} to ${moment(to, now)}`;
}

/** "156 filtered…": the events of the range that are not sent, by reason, most frequent first. */
export function skippedWords(
  skipped: Readonly<Record<string, number>>,
): { reason: string; words: string; count: number }[] {
  return Object.entries(skipped)
    .filter(([, skips]) => skips > 0)
    .map(([reason, skips]) => ({ reason, words: skipWords(reason), count: skips }))
    .sort((one, other) => other.count - one.count);
}

/** The sentence of a replay, after the word for its state. */
export function replaySentence(job: Job, now: number): string {
  const { done, total } = job.progress;
  const sent = counted(done, 'event');
  const left = skippedCount(job);
  const leftOut = left === 0 ? '' : ` It leaves out ${count(left)}.`;
  switch (job.state) {
    case 'running':
      return total === null
        ? `Millrace counts the stored events of the range before it sends the first.`
        : `Millrace has put ${sent} of ${count(total)} into the lane of the destination.${leftOut}`;
    case 'paused':
      return `${sent} ${done === 1 ? 'is' : 'are'} in the lane or sent; the rest waits until a member resumes it.${leftOut}`;
    case 'cancelled':
      return `${sent} ${done === 1 ? 'was' : 'were'} sent again${total === null ? '' : ` of ${count(total)}`}, then a member cancelled it.`;
    case 'done':
      return `${sent} ${done === 1 ? 'was' : 'were'} sent again${job.endedAt === null ? '' : ` by ${moment(job.endedAt, now)}`}.${leftOut.replace('leaves', 'left')}`;
    case 'failed':
      return `${sent} ${done === 1 ? 'was' : 'were'} sent again before it failed.`;
  }
}

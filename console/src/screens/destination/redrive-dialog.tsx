/** What a redrive would send, before it sends anything: how many, the first five, how long, and what receivers see. */
import type { Destination, DeadLetterItem, NewRedrive, Redrive } from '@millrace/contract/control';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Static } from 'typebox';
import { readingPages, useChange } from '../../api/queries.ts';
import { count, counted } from '../../format/numbers.ts';
import { cutText, visible } from '../../format/texts.ts';
import { duration } from '../../format/times.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import { useSearchChange } from '../../parts/use-search-change.ts';
import { numberSetting } from '../../parts/destination/health/destination-facts.ts';
import styles from './destination.module.css';

/** The dialog counts so far; beyond that it says "more than". */
const COUNTED = 500;

type RedriveDialogProps = { destination: Destination; ask: NewRedrive; errorClass: string; close(): void };

export function RedriveDialog({ destination, ask, errorClass, close }: RedriveDialogProps) {
  const change = useSearchChange();
  const { letters, isCounting, isMore, error } = useLetters(ask);
  const redrive = useChange<void, Static<typeof Redrive>>({
    method: 'POST',
    path: '/dead-letters/redrive',
    body: () => ask,
    renews: ['/dead-letters', '/redrives', '/deliveries', '/destinations', '/overview'],
  });
  const start = () =>
    redrive.mutate(undefined, {
      onSuccess: ({ id }) => {
        close();
        change({ redrive: id });
      },
    });
  const many = `${isMore ? 'more than ' : ''}${counted(letters.length, 'dead letter')}`;
  return (
    <Confirm
      title={`Redrive dead letters of ${cutText(visible(destination.name), 60)}`}
      isOpen
      close={close}
      verb={isCounting ? 'Redrive' : `Redrive ${isMore ? 'all' : count(letters.length)}`}
      keep="Leave them"
      isBusy={redrive.isPending || isCounting || letters.length === 0}
      error={redrive.error ?? undefined}
      confirm={start}
    >
      {error !== null && <ProblemNote error={error} what="The dead letters cannot be counted." />}
      <p>
        {isCounting ? 'Counting: ' : ''}Millrace sends <b>{many}</b> again: all that it gave up as{' '}
        <code>{ask.reason}</code> since <TimeText at={ask.from ?? 0} />, also those with another error than{' '}
        <code>{errorClass}</code>.
      </p>
      {letters.length === 0 ? isCounting && <LoadingRows rows={3} /> : <FirstFive letters={letters} />}
      <p className="dim">
        {paceText(destination, letters.length)} Receivers may see duplicates; the webhook-id stays the same. A target
        that has taken a delivery does not get it again.
      </p>
    </Confirm>
  );
}

function FirstFive({ letters }: { letters: readonly DeadLetterItem[] }) {
  return (
    <ul className={`small ${styles['letters']}`}>
      {letters.slice(0, 5).map(({ id, deadAt, type, deliveryId }) => (
        <li key={id}>
          <TimeText at={deadAt} />
          <OuterText text={type} most={24} />
          <IdText id={deliveryId} />
        </li>
      ))}
      {letters.length > 5 && <li className="dim">and {count(letters.length - 5)} more</li>}
    </ul>
  );
}

function useLetters({ destinationId, reason, from }: NewRedrive) {
  const pages = useInfiniteQuery(
    readingPages<DeadLetterItem>('/dead-letters', { query: { destinationId, reason, from, limit: 100 } }),
  );
  const letters = pages.data?.pages.flatMap(({ items }) => items) ?? [];
  const isCounting = pages.isPending || (pages.hasNextPage && letters.length < COUNTED && pages.error === null);
  const { hasNextPage, isFetching, fetchNextPage } = pages;
  useEffect(() => {
    if (isCounting && hasNextPage && !isFetching) void fetchNextPage();
  }, [isCounting, hasNextPage, isFetching, fetchNextPage]);
  return { letters, isCounting, isMore: hasNextPage, error: pages.error };
}

function paceText(destination: Destination, letters: number): string {
  const limit = numberSetting(destination, 'maxPerSecond');
  if (limit === undefined) return 'They go through the lane like all others, after new events.';
  return `At its limit of ${count(limit)} a second this takes about ${duration(Math.max(1, letters / limit) * 1_000)}.`;
}

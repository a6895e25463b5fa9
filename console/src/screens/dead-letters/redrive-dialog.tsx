/** Before a redrive: how many letters, the first of them, how long it takes, and what receivers see. */
import { NumberInput } from '@mantine/core';
import type { DestinationHealth } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reading, useChange } from '../../api/queries.ts';
import { count, counted } from '../../format/numbers.ts';
import { localSentence } from '../../format/sentences.ts';
import { duration } from '../../format/times.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';
import type { LetterFilter, RedriveJob } from './letters.ts';
import { type LetterCount, useLetterCount } from './use-letters.ts';

type RedriveDialogProps = { filter: LetterFilter; isOpen: boolean; close(): void; started(): void };

export function RedriveDialog({ filter, isOpen, close, started }: RedriveDialogProps) {
  const [rate, setRate] = useState<number | undefined>();
  const counting = useLetterCount(filter, isOpen);
  const start = useChange<void, RedriveJob>({
    method: 'POST',
    path: '/dead-letters/redrive',
    body: () => ({ ...filter, ...(rate === undefined ? {} : { ratePerSecond: rate }) }),
    renews: ['/redrives', '/dead-letters', '/overview'],
  });
  const found = counting.data;
  const many = found === undefined ? 'these dead letters' : words(found);
  return (
    <Confirm
      title={`Redrive ${many}?`}
      isOpen={isOpen}
      close={close}
      verb={`Redrive ${many}`}
      keep="Keep them as dead letters"
      isBusy={start.isPending || counting.isFetching || found?.count === 0}
      error={start.error}
      confirm={() =>
        start.mutate(undefined, {
          onSuccess: () => {
            toast({ text: 'The redrive runs.' });
            started();
          },
        })
      }
    >
      {counting.isLoading && <LoadingRows rows={3} />}
      {counting.error !== null && <ProblemNote error={counting.error} what="Millrace cannot count them now." />}
      {found !== undefined && <Preview found={found} rate={rate} />}
      {filter.destinationId !== undefined && isOpen && <Health id={filter.destinationId} />}
      <NumberInput
        label="At most so many a second"
        description="Empty: as fast as the destination takes them; new events go first."
        min={1}
        max={100_000}
        allowDecimal={false}
        value={rate ?? ''}
        onChange={(value) => setRate(typeof value === 'number' ? value : undefined)}
      />
    </Confirm>
  );
}

function words({ count: many, isExact }: LetterCount): string {
  return `${isExact ? '' : 'more than '}${counted(many, 'dead letter')}`;
}

function Preview({ found, rate }: { found: LetterCount; rate: number | undefined }) {
  if (found.count === 0) return <p>No dead letter matches the filter any more.</p>;
  return (
    <>
      <p>
        Millrace makes {found.isExact ? count(found.count) : `more than ${count(found.count)}`} deliveries anew, each
        with four hours of attempts.
        {rate !== undefined &&
          ` At ${count(rate)} a second that takes about ${duration((found.count / rate) * 1_000)}.`}{' '}
        Receivers may see duplicates; the webhook-id stays the same.
      </p>
      <ul className="small soft" aria-label="The first of them">
        {found.first.map(({ id, type, messageId, deadAt }) => (
          <li key={id}>
            <TimeText at={deadAt} /> {type} <OuterText text={messageId} most={24} />
          </li>
        ))}
        {found.count > found.first.length && (
          <li className="dim">and {count(found.count - found.first.length)} more</li>
        )}
      </ul>
    </>
  );
}

/** A receiver that still fails makes dead letters of them again. */
function Health({ id }: { id: string }) {
  const { data } = useQuery(reading<DestinationHealth>(`/destinations/${id}/health`));
  if (data === undefined) return null;
  return (
    <Note title="The destination now:" state="waiting">
      <OuterText text={localSentence(data.sentence)} most={600} />
    </Note>
  );
}

/** What a replay would send: the count, what it leaves out, the first five, how long it takes. */
import { NumberInput } from '@mantine/core';
import type { Destination, NewReplay, ReplayPreview } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Static } from 'typebox';
import { askControl } from '../../api/ask-control.ts';
import { useChange } from '../../api/queries.ts';
import { count, counted } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { useUrlSearch } from '../../parts/lists/url-filters.tsx';
import type { ReplayJob } from '../../parts/job/replay-words.ts';
import { FirstEvents } from './first-events.tsx';
import css from './new-replay.module.css';
import { LeftOutList } from './left-out-list.tsx';
import { isFixed, isSame, requestOf } from './replay-form.ts';

export type Preview = Static<typeof ReplayPreview>;
type Previewed = { preview: Preview; request: NewReplay };

export function ReplayPreviewCard({
  destination,
  mayStart,
}: {
  destination: Destination | undefined;
  mayStart: boolean;
}) {
  const search = useUrlSearch();
  const look = useMutation<Previewed, Error, NewReplay>({
    mutationFn: async (request) => ({
      preview: await askControl<Preview>('/replays/preview', { method: 'POST', body: request }),
      request,
    }),
  });
  const made = requestOf(search, useNow(10_000));
  const previewed = look.data;
  // A preview of other fields says nothing about these.
  const isCurrent = previewed !== undefined && made.ok && isSame(previewed.request, made.value, isFixed(search));
  return (
    <Card title="Preview" aside="nothing is sent yet">
      <div className="pad stack">
        <div className="btns">
          <Button
            look={isCurrent ? 'plain' : 'ink'}
            disabled={!made.ok || !mayStart}
            isBusy={look.isPending}
            onClick={() => {
              const request = requestOf(search, Date.now());
              if (request.ok) look.mutate(request.value);
            }}
          >
            {isCurrent ? 'Count again' : 'Count the events'}
          </Button>
          {!made.ok && <span className="dim">{made.missing}</span>}
          {look.isPending && <span className="dim">Millrace looks through the stored events…</span>}
        </div>
        {look.error !== null && <ProblemNote error={look.error} what="Millrace cannot count them now." />}
        {isCurrent && <Result previewed={previewed} destination={destination} isOne={search.messageId !== undefined} />}
      </div>
    </Card>
  );
}

type ResultProps = { previewed: Previewed; destination: Destination | undefined; isOne: boolean };

function Result({ previewed: { preview, request }, destination, isOne }: ResultProps) {
  const [rate, setRate] = useState<number | undefined>();
  const navigate = useNavigate();
  const start = useChange<void, ReplayJob>({
    method: 'POST',
    path: '/replays',
    body: () => ({ ...request, ...(rate === undefined ? {} : { ratePerSecond: rate }) }),
    renews: ['/replays'],
  });
  const many = `${preview.isExact ? '' : 'at least '}${counted(preview.count, 'event')}`;
  const begin = () =>
    start.mutate(undefined, {
      onSuccess: ({ id }) => {
        toast({ text: `The replay of ${many} runs.` });
        void navigate({ to: '/replays/$id', params: { id } });
      },
    });
  return (
    <>
      <p>
        <b>
          {preview.count === 0 ? 'No event would be sent.' : `${many[0]?.toUpperCase()}${many.slice(1)} would be sent`}
        </b>
        {preview.count > 0 &&
          ` to ${destination?.name ?? 'the destination'}. ${speed(preview.count, rate, destination)}`}
        {preview.count > 0 && ' Receivers may see duplicates; the webhook-id stays the same.'}
      </p>
      {isOne && preview.count > 1 && (
        <Note state="retrying" title="Others came in at the same millisecond.">
          They have the same user and name, and would be sent, too.
        </Note>
      )}
      <Obstacles destination={destination} />
      <LeftOutList skipped={preview.skipped} />
      <FirstEvents events={preview.first} all={preview.count} />
      {preview.count > 0 && (
        <div className={css.start}>
          <NumberInput
            className={css.rate}
            label="At most so many a second"
            description="Empty: new events go first"
            min={1}
            max={100_000}
            allowDecimal={false}
            value={rate ?? ''}
            onChange={(value) => setRate(typeof value === 'number' ? value : undefined)}
          />
          <Button look="ink" isBusy={start.isPending} onClick={begin}>
            Replay {many}
          </Button>
        </div>
      )}
      {start.error !== null && <ProblemNote error={start.error} what="The replay did not start." />}
    </>
  );
}

function speed(events: number, rate: number | undefined, destination: Destination | undefined): string {
  const own = destination?.settings.maxPerSecond;
  const limit = Math.min(rate ?? Infinity, typeof own === 'number' ? own : Infinity);
  if (limit === Infinity) return 'It takes as long as the receiver needs; new events go first.';
  return `At ${count(limit)} a second that takes about ${duration((events / limit) * 1_000)}.`;
}

function Obstacles({ destination }: { destination: Destination | undefined }) {
  if (destination === undefined) return null;
  if (!destination.enabled)
    return (
      <Note state="skipped" title="The destination is disabled.">
        Enable it first: a disabled destination gets nothing.
      </Note>
    );
  if (destination.paused)
    return (
      <Note state="paused" title="The destination is paused.">
        The replay waits until a member resumes it.
      </Note>
    );
  return null;
}

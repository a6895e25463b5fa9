import type { Redrive } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { Static } from 'typebox';
import { lookWhile } from '../../api/look-again.ts';
import { reading } from '../../api/queries.ts';
import { count, counted } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { isOpen } from '../../parts/job/job-words.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { StateBadge, type StateName } from '../../parts/state-mark.tsx';
import { IdText, TimeText } from '../../parts/texts.tsx';
import { useSearchChange } from '../../parts/use-search-change.ts';
import styles from './destination.module.css';

type Job = Static<typeof Redrive>;
const STATES: Readonly<Record<Job['state'], { name: StateName; words: string }>> = {
  running: { name: 'waiting', words: 'Running' },
  paused: { name: 'paused', words: 'Paused' },
  cancelled: { name: 'skipped', words: 'Cancelled' },
  done: { name: 'delivered', words: 'Done' },
  failed: { name: 'givenup', words: 'Failed' },
};

/** The redrive that was started here: its id is in the URL, so it stays when the page is loaded again. */
export function RedriveProgress() {
  const { redrive: id } = useSearch({ from: '/shell/destinations/$id' });
  const change = useSearchChange();
  const read = useQuery({
    ...reading<Job>(`/redrives/${encodeURIComponent(id ?? '')}`, { enabled: id !== undefined }),
    refetchInterval: lookWhile<Job>(2_000, isOpen),
  });
  if (id === undefined) return null;
  if (read.data === undefined) {
    return read.error === null ? null : <ProblemNote error={read.error} what="The redrive cannot be shown." />;
  }
  const { state, progress, problem, createdAt } = read.data;
  const { done, total, skipped } = progress;
  const left = Object.entries(skipped).filter(([, number]) => number > 0);
  return (
    <div className={styles['progress']}>
      <Card
        title="Redrive"
        aside={<IdText id={id} />}
        right={
          <>
            <StateBadge state={STATES[state].name}>{STATES[state].words}</StateBadge>
            <Button small onClick={() => change({ redrive: undefined })}>
              Hide
            </Button>
          </>
        }
      >
        <div className="pad">
          <p>
            {counted(done, 'delivery', 'deliveries')} of {total === null ? 'a number not yet counted' : count(total)}{' '}
            made again, since <TimeText at={createdAt} />. Their answers are in the deliveries below.
          </p>
          {total !== null && total > 0 && (
            <div className="meter" role="progressbar" aria-valuenow={done} aria-valuemax={total} aria-label="Redrive">
              <i style={{ width: `${Math.min(100, (done / total) * 100)}%` }} />
            </div>
          )}
          {left.length > 0 && (
            <p className="small dim">
              Left out: {left.map(([reason, number]) => `${count(number)} ${reason}`).join(', ')}.
            </p>
          )}
          {problem !== null && <p className="small">{problem}</p>}
        </div>
      </Card>
    </div>
  );
}

import type { Destination, Source } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import { count } from '../../format/numbers.ts';
import { shortId } from '../../format/texts.ts';
import { isOpen, shareOf, skippedCount, standingOfJob } from '../../parts/job/job-words.ts';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { filterWords, rangeWords, type ReplayJob } from '../../parts/job/replay-words.ts';

const COLUMNS = [
  { name: 'To' },
  { name: 'State' },
  { name: 'Events' },
  { name: 'Sent again', isNumber: true },
  { name: 'Started', isWide: true },
];

type ReplayRowsProps = {
  jobs: readonly ReplayJob[];
  destinations: readonly Destination[];
  sources: readonly Source[];
  open(id: string): void;
};

export function ReplayRows({ jobs, destinations, sources, open }: ReplayRowsProps) {
  const now = useNow(60_000);
  const nameOf = (things: readonly { id: string; name: string }[], id: string) =>
    things.find((thing) => thing.id === id)?.name ?? `deleted (${shortId(id)})`;
  return (
    <RowTable label="Replays" columns={COLUMNS}>
      {jobs.map((job) => (
        <Row key={job.id} open={() => open(job.id)}>
          <td>
            <Link to="/replays/$id" params={{ id: job.id }}>
              <OuterText text={nameOf(destinations, job.asked.destinationId)} most={40} />
            </Link>
            <span className="sub">
              from <OuterText text={nameOf(sources, job.asked.sourceId)} most={40} />
            </span>
          </td>
          <td>
            <StateText state={standingOfJob(job).state}>{standingOfJob(job).word}</StateText>
          </td>
          <td>
            {rangeWords(job.asked, now)}
            <span className="sub">{filterWords(job.asked.filter) ?? 'all events'}</span>
          </td>
          <td className="num">
            {count(job.progress.done)}
            {job.progress.total !== null && job.progress.total !== job.progress.done && (
              <span className="dim"> of {count(job.progress.total)}</span>
            )}
            {isOpen(job) && <Meter job={job} />}
            {skippedCount(job) > 0 && <span className="sub">{count(skippedCount(job))} left out</span>}
          </td>
          <td className="m-hide">
            <TimeText at={job.createdAt} />
          </td>
        </Row>
      ))}
    </RowTable>
  );
}

function Meter({ job }: { job: ReplayJob }) {
  const percent = Math.round((shareOf(job) ?? 0) * 100);
  return (
    <span className={`meter block ${standingOfJob(job).state}`} role="img" aria-label={`${percent} % done`}>
      <i style={{ width: `${percent}%` }} />
    </span>
  );
}

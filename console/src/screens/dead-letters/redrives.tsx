/** Redrives: those that run, and those that ended. */
import type { Destination } from '@millrace/contract/control';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type Page, readingPages } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { nameIn } from '../../format/names.ts';
import { counted } from '../../format/numbers.ts';
import { shortId } from '../../format/texts.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { JobProgress, JobSwitches } from '../../parts/job/job-parts.tsx';
import { isOpen, skippedCount, standingOfJob } from '../../parts/job/job-words.ts';
import { Empty, ListStates, Older } from '../../parts/list-states.tsx';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { StateBadge, StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { REASONS, type RedriveJob } from './letters.ts';

const COLUMNS = [
  { name: 'Which' },
  { name: 'State' },
  { name: 'Sent again', isNumber: true },
  { name: 'Started' },
  { name: 'Ended', isWide: true },
];

export function useRedrives() {
  return useInfiniteQuery(readingPages<RedriveJob>('/redrives', { every: 5_000 }));
}

type Named = { destinations: Page<Destination> | undefined };

/** The redrives that run or are paused, with their switches. */
export function OpenRedrives({ destinations }: Named) {
  const mayAct = useMay('dead-letters:write');
  const read = useRedrives();
  const open = (read.data?.pages ?? []).flatMap(({ items }) => items).filter(isOpen);
  return open.map((job) => (
    <Card
      key={job.id}
      title={<>Redrive of {whichOf(job, destinations)}</>}
      aside={<TimeText at={job.createdAt} />}
      right={
        <>
          <StateBadge state={standingOfJob(job).state}>{standingOfJob(job).word}</StateBadge>
          {mayAct && <JobSwitches job={job} path="/redrives" noun="redrive" small />}
        </>
      }
    >
      <div className="pad">
        <JobProgress job={job} label="Progress of the redrive" />
      </div>
    </Card>
  ));
}

export function Redrives({ destinations }: Named) {
  const read = useRedrives();
  const jobs = (read.data?.pages ?? []).flatMap(({ items }) => items);
  return (
    <Card>
      <ListStates
        read={read}
        failed="The redrives cannot be shown."
        isEmpty={jobs.length === 0}
        empty={
          <Empty title="No redrive yet" action={<LinkButton to="/dead-letters">Look at the dead letters</LinkButton>}>
            A redrive sends many dead letters again, after the receiver was repaired. It can be paused and cancelled,
            and stays in this list with its result.
          </Empty>
        }
      >
        <RowTable label="Redrives" columns={COLUMNS}>
          {jobs.map((job) => (
            <Row key={job.id}>
              <td>{whichOf(job, destinations)}</td>
              <td>
                <StateText state={standingOfJob(job).state}>{standingOfJob(job).word}</StateText>
              </td>
              <td className="num">
                {counted(job.progress.done, 'delivery', 'deliveries')}
                {skippedCount(job) > 0 && <span className="sub">{skippedCount(job)} left out</span>}
              </td>
              <td>
                <TimeText at={job.createdAt} />
              </td>
              <td className="m-hide">{job.endedAt === null ? '–' : <TimeText at={job.endedAt} />}</td>
            </Row>
          ))}
        </RowTable>
      </ListStates>
      <Older pages={read} />
    </Card>
  );
}

function whichOf({ asked }: RedriveJob, destinations: Named['destinations']) {
  const { destinationId: id } = asked;
  return (
    <>
      {id === undefined ? (
        'all destinations'
      ) : (
        <OuterText text={nameIn(destinations, id, `a deleted destination (${shortId(id)})`)} />
      )}
      {asked.reason !== undefined && `, ${REASONS[asked.reason].label.toLowerCase()}`}
      {asked.from !== undefined && (
        <>
          , given up since <TimeText at={asked.from} />
        </>
      )}
    </>
  );
}

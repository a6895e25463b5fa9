/** The progress of a job, and its switches: pause, resume, cancel. */
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { localSentence } from '../../format/sentences.ts';
import { Button } from '../button.tsx';
import { Confirm } from '../dialog.tsx';
import { Note } from '../note.tsx';
import { ProblemNote } from '../problem-note.tsx';
import { tellError } from '../tell-error.ts';
import { OuterText } from '../texts.tsx';
import { toast } from '../toasts.tsx';
import { useNow } from '../use-now.ts';
import { isOpen, type Job, progressText, shareOf, standingOfJob } from './job-words.ts';

export function JobProgress({ job, label }: { job: Job; label: string }) {
  const now = useNow(1_000);
  const share = shareOf(job);
  const text = progressText(job, now);
  return (
    <div>
      <div
        className={`meter ${standingOfJob(job).state}`}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={text}
        {...(share === undefined ? {} : { 'aria-valuenow': Math.round(share * 100) })}
      >
        <i style={{ width: `${(share ?? 0) * 100}%` }} />
      </div>
      <p className="small dim" style={{ marginTop: 4 }}>
        {text}
      </p>
      {job.problem !== null && (
        <Note
          state={job.state === 'failed' ? 'givenup' : 'retrying'}
          title={job.state === 'failed' ? 'Failed:' : 'It waits:'}
        >
          <OuterText text={localSentence(job.problem)} most={600} />
        </Note>
      )}
    </div>
  );
}

type JobSwitchesProps = {
  job: Job;
  /** Where jobs of this kind are, as `/replays`. */
  path: string;
  /** The word for it, as "replay". */
  noun: string;
  small?: boolean;
};

export function JobSwitches({ job, path, noun, small = false }: JobSwitchesProps) {
  const [asks, setAsks] = useState(false);
  const act = useChange<'pause' | 'resume' | 'cancel'>({
    method: 'POST',
    path: (verb) => `${path}/${job.id}/${verb}`,
    renews: [path],
  });
  if (!isOpen(job)) return null;
  const pause = () =>
    act.mutate('pause', {
      onSuccess: () =>
        toast({ text: `The ${noun} is paused.`, undo: () => void act.mutateAsync('resume').catch(tellError) }),
    });
  return (
    <>
      {job.state === 'running' ? (
        <Button small={small} isBusy={act.isPending} onClick={pause}>
          Pause
        </Button>
      ) : (
        <Button small={small} isBusy={act.isPending} onClick={() => act.mutate('resume')}>
          Resume
        </Button>
      )}
      <Button small={small} look="danger" onClick={() => setAsks(true)}>
        Cancel…
      </Button>
      {act.error !== null && !asks && <ProblemNote error={act.error} />}
      <Confirm
        title={`Cancel this ${noun}?`}
        isOpen={asks}
        close={() => setAsks(false)}
        verb={`Cancel the ${noun}`}
        keep="Go on"
        isBusy={act.isPending}
        error={act.error}
        confirm={() => act.mutate('cancel', { onSuccess: () => setAsks(false) })}
      >
        <p>
          Millrace stops within two seconds. Deliveries that are already in the lane are still sent: about a second’s
          worth, 2,000 at most. A cancelled {noun} cannot be resumed; a new one can be started.
        </p>
      </Confirm>
    </>
  );
}

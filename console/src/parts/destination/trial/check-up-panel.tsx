/** The check-up of a receiver: requests that are wrong on purpose, how it answered them, and what to change. */
import { type ReactNode, useState } from 'react';
import { Button, type Look } from '../../button.tsx';
import { Card } from '../../card.tsx';
import { Icon } from '../../icon.tsx';
import { Note } from '../../note.tsx';
import { ProblemNote } from '../../problem-note.tsx';
import { StateBadge } from '../../state-mark.tsx';
import { TimeText } from '../../texts.tsx';
import { hostOf } from '../../../format/texts.ts';
import { localSentence } from '../../../format/sentences.ts';
import { GRADE_STATES, gradeWords } from './check-up-report.ts';
import { CheckUpSteps } from './check-up-steps.tsx';
import { TargetPicker } from './target-picker.tsx';
import { useCheckUp } from './use-check-up.ts';

type CheckUpPanelProps = {
  id: string;
  urls: readonly string[];
  title?: ReactNode;
  /** Why nothing can be started now. */
  held?: string | undefined;
  look?: Look;
};

export function CheckUpPanel({ id, urls, title = 'Check-up', held, look = 'plain' }: CheckUpPanelProps) {
  const [target, setTarget] = useState(0);
  const { report, readError, start, again } = useCheckUp(id);
  const isRunning = report?.state === 'running' || start.isPending;
  return (
    <Card
      title={title}
      aside={
        report === undefined ? (
          'five test requests, some of them wrong on purpose'
        ) : (
          <>
            {hostOf(urls[report.targetIndex] ?? '')},{' '}
            {report.endedAt === null ? 'running' : <TimeText at={report.endedAt} withDistance />}
          </>
        )
      }
      right={
        <>
          <TargetPicker urls={urls} value={target} choose={setTarget} />
          <Button
            look={look}
            small={look !== 'ink'}
            isBusy={isRunning}
            disabled={held !== undefined}
            onClick={() => start.mutate(target)}
          >
            <Icon name="replay" />
            {report === undefined ? 'Start the check-up' : 'Run again'}
          </Button>
        </>
      }
    >
      {(held !== undefined || start.error !== null || readError !== undefined) && (
        <div className="pad stack">
          {held !== undefined && <p className="dim">{held}</p>}
          {start.error !== null && <ProblemNote error={start.error} what="The check-up could not start." />}
          {readError !== undefined && (
            <ProblemNote error={readError} what="The report cannot be shown." retry={() => void again()} />
          )}
        </div>
      )}
      {report === undefined ? (
        <p className="pad soft">
          A check-up tells whether the receiver verifies signatures, refuses old requests, knows a repeated webhook-id
          and takes large bodies. Each request carries X-Millrace-Test: true; none of them is a delivery.
        </p>
      ) : (
        <>
          <div className="pad">
            <Note {...(report.grade === null ? {} : { state: GRADE_STATES[report.grade] })}>
              {report.grade !== null && (
                <StateBadge state={GRADE_STATES[report.grade]}>{gradeWords(report)}</StateBadge>
              )}{' '}
              {report.sentence === null ? 'The receiver is being asked.' : localSentence(report.sentence)}
            </Note>
          </div>
          <CheckUpSteps report={report} />
        </>
      )}
    </Card>
  );
}

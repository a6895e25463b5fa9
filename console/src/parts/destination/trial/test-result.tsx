/** One test: the exact request, the answer, and what it would mean for a delivery. */
import type { TestedDestination } from '@millrace/contract/control';
import { Code } from '../../code.tsx';
import { CodeHelp } from '../../code-help.tsx';
import { Note } from '../../note.tsx';
import { StateText, type StateName } from '../../state-mark.tsx';
import { IdText, TimeText } from '../../texts.tsx';
import { Waterfall } from '../../waterfall.tsx';
import { localSentence } from '../../../format/sentences.ts';
import look from '../destination.module.css';
import { codeOf, phasesOf, requestText } from './test-words.ts';

const ALLOWED_MS = 5_000;
const STATES: Readonly<Record<TestedDestination['outcome']['kind'], StateName>> = {
  delivered: 'delivered',
  retry: 'retrying',
  discarded: 'givenup',
  expired: 'givenup',
};

export function TestResult({ tested }: { tested: TestedDestination }) {
  const { request, answer, outcome } = tested;
  const state = STATES[outcome.kind];
  const code = codeOf(tested);
  return (
    <div className="stack" role="status">
      <Note state={state} title={localSentence(answer.sentence)}>
        {localSentence(outcome.sentence)}
      </Note>
      {code !== undefined && <CodeHelp code={code} />}
      <div className={look.exchange}>
        <div className="stack">
          <p className="small dim">
            Millrace sent <TimeText at={tested.at} toMs /> <IdText id={tested.id} />
          </p>
          <Code text={requestText(request)} label="the request" foldsAfter={30} />
          {request.isCut && <p className="small dim">The body was longer than what is shown of it.</p>}
        </div>
        <div className="stack">
          <p className="small dim">
            The receiver answered{' '}
            <StateText state={state}>{answer.status === null ? 'nothing' : String(answer.status)}</StateText>
            {answer.address !== null && <> from {answer.address}</>}
            {answer.retryAfter !== null && <> with Retry-After {answer.retryAfter.slice(0, 60)}</>}
          </p>
          {answer.body === null || answer.body === '' ? (
            <p className="dim">The answer has no body.</p>
          ) : (
            <Code text={answer.body} label="the body of the answer" />
          )}
          <Waterfall
            phases={phasesOf(answer.timings)}
            totalMs={answer.timings.totalMs}
            allowedMs={ALLOWED_MS}
            {...(state === 'delivered' ? {} : { state })}
          />
        </div>
      </div>
    </div>
  );
}

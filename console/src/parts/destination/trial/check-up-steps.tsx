import type { CheckUp, CheckUpStep } from '@millrace/contract/control';
import { StateText } from '../../state-mark.tsx';
import { IdText } from '../../texts.tsx';
import { localSentence } from '../../../format/sentences.ts';
import { visible } from '../../../format/texts.ts';
import { answerWords, GRADE_STATES, sentParts } from './check-up-report.ts';
import look from '../destination.module.css';

/** One row a request: what was sent, what came back, what it means and what to change. */
export function CheckUpSteps({ report }: { report: CheckUp }) {
  return (
    <div className={look.report}>
      <table>
        <thead>
          <tr>
            <th>Millrace sent</th>
            <th>Answered</th>
            <th>What it means</th>
          </tr>
        </thead>
        <tbody>
          {report.steps.map((step) => (
            <StepRow key={step.name} step={step} isRunning={report.state === 'running'} />
          ))}
        </tbody>
      </table>
      {typeof report.facts?.sentence === 'string' && (
        <p className="pad small dim">{localSentence(report.facts.sentence)}</p>
      )}
    </div>
  );
}

function StepRow({ step, isRunning }: { step: CheckUpStep; isRunning: boolean }) {
  const { text, ms } = answerWords(step);
  const { what, expects } = sentParts(step.sent);
  const isBad = step.grade === 'danger' || step.grade === 'warning';
  return (
    <tr>
      <td>
        {isBad ? <b>{visible(what)}</b> : visible(what)}
        {expects !== '' && <span className="sub">expects {visible(expects)}</span>}
        <span className="sub">
          <code>{step.name}</code> {step.webhookId !== null && <IdText id={step.webhookId} />}
        </span>
      </td>
      <td className="nowrap">
        {step.grade === null ? (
          <StateText state="waiting">{isRunning ? 'waits' : 'not done'}</StateText>
        ) : (
          <>
            <StateText state={GRADE_STATES[step.grade]}>{text}</StateText> <span className="dim">{ms}</span>
          </>
        )}
      </td>
      <td className={isBad ? undefined : 'soft'}>
        {step.sentence !== null && (isBad ? <b>{localSentence(step.sentence)}</b> : localSentence(step.sentence))}{' '}
        {step.remedy !== null && localSentence(step.remedy)}
        {step.docs !== null && <code className="sub">{step.docs}</code>}
      </td>
    </tr>
  );
}

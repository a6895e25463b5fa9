import type { DeliveryAttempt, DeliveryDetails } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import { shortWords } from '../../format/codes.ts';
import { counted, milliseconds } from '../../format/numbers.ts';
import { hostOf } from '../../format/texts.ts';
import { duration, moment } from '../../format/times.ts';
import { Card } from '../../parts/card.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { type Answer, answerState } from '../../parts/delivery/attempt-phases.ts';
import styles from './delivery.module.css';
import type { Chosen } from './use-chosen.ts';

/** The latest attempt comes first. The list links to each of them, so a link shows the same. */
export function AttemptList({ delivery, chosen }: { delivery: DeliveryDetails; chosen: Chosen }) {
  const { history } = delivery;
  return (
    <Card title="Attempts" aside={`${counted(history.length, 'attempt')} made`}>
      <ol className="attempts" reversed>
        {history
          .map((attempt, place) => ({ attempt, place }))
          .toReversed()
          .map(({ attempt, place }) => (
            <li key={`${attempt.at} ${attempt.attempt}`} className={place === chosen.place ? 'sel' : undefined}>
              <span className="no">{place + 1}</span>
              <div>
                <div className="top">
                  <Link
                    to="."
                    className={`plain ${styles['attempt'] ?? ''}`}
                    search={(before: object) => ({ ...before, attempt: String(place + 1) })}
                    aria-current={place === chosen.place ? 'true' : undefined}
                  >
                    <b>{moment(attempt.at)}</b>
                  </Link>
                  <time>{pause(history, place)}</time>
                </div>
                {attempt.answers.map((answer) => (
                  <AnswerLine key={answer.url} answer={answer} />
                ))}
                {attempt.replayId !== null && <div className="per">sent again by hand</div>}
              </div>
            </li>
          ))}
      </ol>
    </Card>
  );
}

function AnswerLine({ answer }: { answer: Answer }) {
  const { url, status, errorClass, timings, events } = answer;
  const words = status === undefined ? shortWords(errorClass ?? 'error').toLowerCase() : `answered ${status}`;
  return (
    <div className="per">
      <StateMark state={answerState(answer)} />
      <span>
        <OuterText text={hostOf(url)} most={40} />
        {status === undefined ? ': ' : ' '}
        {words}
        {events === undefined ? '' : `, in a batch of ${events}`}
      </span>
      <span className="ms">{milliseconds(timings.totalMs)}</span>
    </div>
  );
}

function pause(history: readonly DeliveryAttempt[], place: number): string {
  const before = history[place - 1];
  const here = history[place];
  if (before === undefined || here === undefined) return 'first';
  return `after ${duration(Date.parse(here.at) - Date.parse(before.at))}`;
}

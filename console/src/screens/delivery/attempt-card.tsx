import { shortWords } from '../../format/codes.ts';
import { counted } from '../../format/numbers.ts';
import { hostOf, visible } from '../../format/texts.ts';
import { day } from '../../format/times.ts';
import { Card } from '../../parts/card.tsx';
import { CodeHelp } from '../../parts/code-help.tsx';
import { StateText, type StateName } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Waterfall } from '../../parts/waterfall.tsx';
import { ALLOWED_MS, type Answer, answerState, phasesOf } from '../../parts/delivery/attempt-phases.ts';
import styles from './delivery.module.css';
import { answerSentence } from '../../parts/delivery/tell-delivery.ts';
import type { Chosen } from './use-chosen.ts';

const MEANING: Partial<Record<StateName, string>> = {
  delivered: 'taken',
  retrying: 'retry',
  givenup: 'refused for good',
};

/** One attempt: the POST to each target with its phases, side by side. */
export function AttemptCard({ chosen, isErased }: { chosen: Chosen; isErased: boolean }) {
  const { attempt, place } = chosen;
  const posts = attempt.answers.length;
  const aside = (
    <>
      {day(attempt.at)} <TimeText at={attempt.at} toMs />
      {posts > 0 && `, ${counted(posts, 'POST')}`}
      {posts > 1 && ' side by side'}
    </>
  );
  return (
    <Card title={`Attempt ${place + 1}`} aside={aside}>
      {posts === 0 ? (
        <p className="pad dim">
          {isErased ? 'Millrace no longer keeps the answers: the user was erased.' : 'The record has no answers of it.'}
        </p>
      ) : (
        <div className={`pad ${styles['posts']}`}>
          {attempt.answers.map((answer) => (
            <Post key={answer.url} answer={answer} />
          ))}
        </div>
      )}
    </Card>
  );
}

function Post({ answer }: { answer: Answer }) {
  const now = useNow(60_000);
  const { url, status, errorClass, address, timings } = answer;
  const state = answerState(answer);
  const { phases, isReused } = phasesOf(answer);
  return (
    <div className={styles['post']}>
      <div className={styles['target']}>
        <b className="mono">
          <OuterText text={hostOf(url)} />
        </b>
        <span className="dim small">{address}</span>
      </div>
      <p>
        <StateText state={state}>
          {status === undefined ? shortWords(errorClass ?? 'error') : `Answered ${status}`}: {MEANING[state]}
        </StateText>
      </p>
      <Waterfall
        phases={phases}
        totalMs={timings.totalMs}
        allowedMs={ALLOWED_MS}
        {...(state === 'delivered' ? {} : { state })}
      />
      {isReused && <p className="small dim">Over a connection that was open already.</p>}
      {status === undefined && <p className="small">{visible(answerSentence(answer, now))}</p>}
      {state !== 'delivered' && <CodeHelp code={errorClass ?? `http_${status}`} state={state} />}
    </div>
  );
}

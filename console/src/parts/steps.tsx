/** Steps one below the other: done ones have a check mark, the one to do now is filled. */
import type { ReactNode } from 'react';
import { StateMark } from './state-mark.tsx';
import styles from './steps.module.css';

export type Step = { name: string; text: ReactNode; state: 'done' | 'now' | 'later'; action?: ReactNode };

export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol>
      {steps.map(({ name, text, state, action }, place) => (
        <li
          className={styles['step']}
          data-state={state}
          aria-current={state === 'now' ? 'step' : undefined}
          key={name}
        >
          <span className={[styles['mark'], styles[state]].join(' ')} aria-hidden="true">
            {state === 'done' ? <StateMark state="delivered" /> : place + 1}
          </span>
          <div>
            <div className={styles['name']}>
              {name}
              {state === 'done' && <span className="sr"> (done)</span>}
            </div>
            <div className={styles['text']}>{text}</div>
            {action !== undefined && <div className={styles['action']}>{action}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}

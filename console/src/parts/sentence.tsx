/** Every page opens with one sentence that says how it stands; what proves it follows below. */
import type { ReactNode } from 'react';
import { StateMark, type StateName } from './state-mark.tsx';

type SentenceProps = {
  /** The first words, in the colour of their state. */
  state?: { name: StateName; words: ReactNode } | undefined;
  children: ReactNode;
  /** The second, smaller line. */
  then?: ReactNode;
  todo?: ReactNode;
  actions?: ReactNode;
};

export function Sentence({ state, children, then, todo, actions }: SentenceProps) {
  return (
    <div className={state === undefined ? 'lead noicon' : `lead ${state.name}`}>
      {state !== undefined && <StateMark state={state.name} />}
      <h1>
        {state !== undefined && <em>{state.words}</em>} {children}
      </h1>
      {(then !== undefined || todo !== undefined) && (
        <p className="then">
          {then}
          {todo !== undefined && (
            <>
              <br />
              <span className="todo">{todo}</span>
            </>
          )}
        </p>
      )}
      {actions !== undefined && <div className="btns">{actions}</div>}
    </div>
  );
}

/** The seven states, each with its own shape and word: colour never stands alone. */
import type { ReactNode } from 'react';
import type { StateName } from '../format/state-name.ts';

const SHAPES: Readonly<Record<StateName, ReactNode>> = {
  delivered: (
    <>
      <path
        fillRule="evenodd"
        d="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Zm3.4 5-3.9 4.5a.8.8 0 0 1-1.2 0L4.5 9l1.1-1 1.3 1.4 3.3-3.9z"
      />
    </>
  ),
  retrying: (
    <>
      <path d="M8 2.2a5.8 5.8 0 0 1 4.3 1.9V2h1.7v5H9V5.3h2.2A4.1 4.1 0 1 0 12 9h1.7A5.8 5.8 0 1 1 8 2.2Z" />
    </>
  ),
  givenup: (
    <>
      <path
        fillRule="evenodd"
        d="M3.5 2h9A1.5 1.5 0 0 1 14 3.5v9a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 12.5v-9A1.5 1.5 0 0 1 3.5 2Zm1.3 3.9L6.9 8l-2.1 2.1 1.1 1.1L8 9.1l2.1 2.1 1.1-1.1L9.1 8l2.1-2.1-1.1-1.1L8 6.9 5.9 4.8z"
      />
    </>
  ),
  waiting: (
    <>
      <path
        fillRule="evenodd"
        d="M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8Zm0 1.5a4.7 4.7 0 1 0 0 9.4 4.7 4.7 0 0 0 0-9.4ZM7.25 4.8h1.5v2.9l2 1.5-.9 1.2-2.6-1.95z"
      />
    </>
  ),
  skipped: (
    <>
      <path
        fillRule="evenodd"
        d="M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8Zm0 1.5a4.7 4.7 0 1 0 0 9.4 4.7 4.7 0 0 0 0-9.4ZM5 7.25h6v1.5H5z"
      />
    </>
  ),
  paused: (
    <>
      <path d="M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z" />
    </>
  ),
  refused: (
    <>
      <path fillRule="evenodd" d="M8 .9 15.1 8 8 15.1.9 8ZM5 7.1v1.8h6V7.1z" />
    </>
  ),
};

export type { StateName };

export function StateMark({ state }: { state: StateName }) {
  return (
    <svg className={`i s ${state}`} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[state]}
    </svg>
  );
}

/** Shape and word, as a cell of a table shows a state. */
export function StateText({ state, children }: { state: StateName; children: ReactNode }) {
  return (
    <span className={`state ${state}`}>
      <StateMark state={state} />
      {children}
    </span>
  );
}

/** Shape and word on the state's own tint, for headers. */
export function StateBadge({ state, children }: { state: StateName; children: ReactNode }) {
  return (
    <span className={`badge ${state}`}>
      <StateMark state={state} />
      {children}
    </span>
  );
}

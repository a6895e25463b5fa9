import type { ReactNode } from 'react';
import type { StateName } from './state-mark.tsx';

/** A remark with a rule at its side: the first words are bold. */
export function Note({ state, title, children }: { state?: StateName; title?: ReactNode; children?: ReactNode }) {
  return (
    <div className={`note ${state ?? ''}`} role={state === 'givenup' ? 'alert' : undefined}>
      {title !== undefined && <b>{title}</b>} {children}
    </div>
  );
}

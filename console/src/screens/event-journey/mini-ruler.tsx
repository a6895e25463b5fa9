import { placeOnRuler } from '../../parts/ruler.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import type { RulerMark } from './attempts.ts';
import css from './event-journey.module.css';

/** The ruler of attempts in one line: four hours from the first one, on a logarithmic scale. */
export function MiniRuler({ marks }: { marks: readonly RulerMark[] }) {
  const made = marks.filter(({ state }) => state !== 'planned' && state !== 'paused');
  const last = made.at(-1);
  const label = marks.map(({ title }) => title).join(', ');
  return (
    <div className={css.ruler} role="img" aria-label={label === '' ? 'no attempt yet' : label}>
      <div className={css.track} />
      {last !== undefined && <div className={css.done} style={{ width: `${placeOnRuler(last.sinceFirstMs)}%` }} />}
      {marks.map(({ sinceFirstMs, state, title }) => (
        <span className={css.point} style={{ left: `${placeOnRuler(sinceFirstMs)}%` }} title={title} key={title}>
          {state === 'planned' ? <i className={css.plan} /> : <StateMark state={state} />}
        </span>
      ))}
    </div>
  );
}

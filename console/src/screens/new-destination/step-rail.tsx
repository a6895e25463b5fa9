import { Icon } from '../../parts/icon.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { visible } from '../../format/texts.ts';
import look from './new-destination.module.css';
import type { Step } from './steps.ts';

/** The steps with their state; each is a link to its card. */
export function StepRail({ steps }: { steps: readonly Step[] }) {
  const current = steps.find(({ state }) => state !== 'ok');
  return (
    <nav aria-label="Steps" className={look.rail}>
      {steps.map(({ name, title, state, detail }, place) => (
        <a
          key={name}
          href={`#${name}`}
          data-state={state}
          aria-current={name === current?.name ? 'step' : undefined}
          onClick={(event) => {
            event.preventDefault();
            document.getElementById(name)?.scrollIntoView({ block: 'start' });
          }}
        >
          {state === 'problem' ? (
            <span className={`${look.mark} ${look.bare}`}>
              <StateMark state="givenup" />
            </span>
          ) : (
            <span className={look.mark}>{state === 'ok' ? <Icon name="check" /> : place + 1}</span>
          )}
          <span>
            {title}
            {state === 'ok' && <span className="sr"> (done)</span>}
            {state === 'problem' && <span className="sr"> (has a problem)</span>}
            <small>{visible(detail)}</small>
          </span>
        </a>
      ))}
    </nav>
  );
}

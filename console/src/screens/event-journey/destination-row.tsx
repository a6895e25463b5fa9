/** One destination of a journey: the rules, the destination, the attempts. */
import type { Destination } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import { standingOf } from '../../format/standings.ts';
import { localSentence } from '../../format/sentences.ts';
import { useMay } from '../../api/session.tsx';
import { Icon } from '../../parts/icon.tsx';
import { StateBadge } from '../../parts/state-mark.tsx';
import { OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { marksOf, tell } from './attempts.ts';
import css from './event-journey.module.css';
import { MiniRuler } from './mini-ruler.tsx';
import { type RuleLine, ruleLines, type StoredEvent } from './rules.ts';
import { type JourneyPart, nameOf } from './verdict.ts';

type RowProps = { part: JourneyPart; destination: Destination | undefined; event: StoredEvent | undefined };

export function DestinationRow({ part, destination, event }: RowProps) {
  const { state, word } = standingOf(part.state);
  const marks = marksOf(part);
  return (
    <li className={`${css.row} ${part.state === 'skipped' ? css.left : ''}`}>
      <div>
        <h3 className={css.step}>Rules</h3>
        <Rules lines={ruleLines(part, destination, event)} />
      </div>
      <div className={css.destination}>
        {destination === undefined ? (
          <b>
            <OuterText text={nameOf(part)} />
          </b>
        ) : (
          <b>
            <OuterLink to="/destinations/$id" params={{ id: part.destinationId }} text={nameOf(part)} />
          </b>
        )}
        <StateBadge state={state}>{word}</StateBadge>
      </div>
      <div className={css.attempts}>
        {(marks.length > 0 || part.state === 'pending') && <MiniRuler marks={marks} />}
        <Ending part={part} isThere={destination !== undefined} />
      </div>
    </li>
  );
}

function Rules({ lines }: { lines: readonly RuleLine[] }) {
  return (
    <ul className={css.rules}>
      {lines.map(({ isBroken, text, rule, found }) => (
        <li key={`${text} ${rule ?? ''}`} className={isBroken ? css.broken : undefined}>
          <Icon name={isBroken ? 'x' : 'check'} />
          <span>
            <span className="sr">{isBroken ? 'Stopped here: ' : 'Passed: '}</span>
            {text} {rule !== undefined && <Rule text={rule} isBroken={isBroken} />}
            {found !== undefined && (
              <em>
                <OuterText text={found} />
              </em>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Rule({ text, isBroken }: { text: string; isBroken: boolean }) {
  const shown = <OuterText text={text} most={200} />;
  return <code>{isBroken ? <mark>{shown}</mark> : shown}</code>;
}

function Ending({ part, isThere }: { part: JourneyPart; isThere: boolean }) {
  const { first, rest } = tell(part, useNow(10_000));
  const maySet = useMay('destinations:write');
  return (
    <>
      <p>
        <b>{first}</b> <OuterText text={rest} most={400} />{' '}
        {part.state === 'skipped'
          ? isThere &&
            part.reason === 'filtered' &&
            maySet && (
              <Link to="/destinations/$id/settings" params={{ id: part.destinationId }}>
                Edit filter
              </Link>
            )
          : !part.isErased && (
              <Link to="/deliveries/$id" params={{ id: part.id }}>
                Open delivery
              </Link>
            )}
      </p>
      {part.isErased && part.state === 'delivered' && (
        <p className="small dim">Its user was erased since: the answers of receivers are not kept.</p>
      )}
      {part.replays.map(({ id, kind, startedAt }) => (
        <p className="small dim" key={id}>
          {kind === 'replay' ? 'Sent again by a ' : 'Sent again from the dead letters at '}
          {kind === 'replay' && (
            <>
              <Link to="/replays/$id" params={{ id }}>
                replay
              </Link>{' '}
              at{' '}
            </>
          )}
          <TimeText at={startedAt} />.
        </p>
      ))}
      {part.history.length > 1 && <Story part={part} />}
    </>
  );
}

function Story({ part }: { part: JourneyPart }) {
  return (
    <details className="small">
      <summary className="dim">Every step</summary>
      <ol className={css.story}>
        {part.story.map((sentence) => (
          <li key={sentence}>
            <OuterText text={localSentence(sentence)} most={400} />
          </li>
        ))}
      </ol>
    </details>
  );
}

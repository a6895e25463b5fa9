import type { Attention, Overview } from '@millrace/contract/control';
import { useState } from 'react';
import { count } from '../../format/numbers.ts';
import { localSentence } from '../../format/sentences.ts';
import { visible } from '../../format/texts.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { OuterLink, TimeText } from '../../parts/texts.tsx';
import { LOOKS, splitAtName } from './attention.ts';
import styles from './home.module.css';
import { ResumeButton } from './resume-button.tsx';

type AttentionCardProps = {
  overview: Overview;
  names: ReadonlyMap<string, string>;
  mayResume: boolean;
  /** The first trouble has the primary button of the page. */
  isInk: boolean;
};

/** The most urgent ones; the API orders them. */
const FIRST = 6;

export function AttentionCard({ overview, names, mayResume, isInk }: AttentionCardProps) {
  const { attention, attentionLeftOut } = overview;
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? attention : attention.slice(0, FIRST);
  if (attention.length === 0) {
    return (
      <Card title="Needs attention">
        <p className="pad soft">
          Nothing. A destination that fails, a backlog, dead letters, refused calls and a source that goes quiet are
          told here, each with what to do.
        </p>
      </Card>
    );
  }
  return (
    <Card title="Needs attention" aside={count(attention.length + attentionLeftOut)}>
      <ul className={`attn ${styles['attn']}`}>
        {shown.map((trouble, place) => (
          <li key={`${trouble.kind} ${trouble.destinationId ?? ''} ${trouble.sourceId ?? ''} ${trouble.sentence}`}>
            <StateMark state={LOOKS[trouble.kind].state} />
            <Told trouble={trouble} name={names.get(trouble.destinationId ?? trouble.sourceId ?? '')} />
            <span className={styles['since']}>
              {trouble.since !== undefined && (
                <>
                  since <TimeText at={trouble.since} />
                </>
              )}
            </span>
            <div className="btns">
              <Way trouble={trouble} isFirst={isInk && place === 0} mayResume={mayResume} />
            </div>
          </li>
        ))}
      </ul>
      {shown.length < attention.length && (
        <div className={`pad ${styles['more']}`}>
          <Button onClick={() => setIsWhole(true)}>Show all {count(attention.length)}</Button>
        </div>
      )}
      {shown.length === attention.length && attentionLeftOut > 0 && (
        <p className="pad soft">{count(attentionLeftOut)} more are not listed: solve those above first.</p>
      )}
    </Card>
  );
}

function Told({ trouble, name }: { trouble: Attention; name: string | undefined }) {
  const [before, named, after] = splitAtName(trouble.sentence, name);
  const { destinationId, sourceId } = trouble;
  return (
    <p className="outer">
      {localSentence(before)}
      {named !== '' && (
        <b>
          {destinationId === undefined ? (
            <OuterLink to="/sources/$id" params={{ id: sourceId ?? '' }} text={named} />
          ) : (
            <OuterLink to="/destinations/$id" params={{ id: destinationId }} text={named} />
          )}
        </b>
      )}
      <Coded text={`${localSentence(after)} ${localSentence(trouble.nextStep)}`} />
    </p>
  );
}

/** Codes, and times that are an example of how to write one. */
const CODE = /\b([a-z]+(?:_[a-z0-9]+)+|\d{4}-\d\d-\d\dT[\d:.]+Z?)/;

/** A code in a sentence looks like one: it can be looked up and searched for. */
function Coded({ text }: { text: string }) {
  const parts = visible(text).split(CODE);
  return parts.map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));
}

/** One button each: the first one is the thing to do on this page. */
function Way({ trouble, isFirst, mayResume }: { trouble: Attention; isFirst: boolean; mayResume: boolean }) {
  const { button, leadsTo } = LOOKS[trouble.kind];
  const { destinationId = '', sourceId = '' } = trouble;
  const look = { small: true, look: isFirst ? ('ink' as const) : ('plain' as const) };
  if (trouble.kind === 'destination_paused') {
    if (mayResume) return <ResumeButton destinationId={destinationId} sentence={trouble.sentence} {...look} />;
    return <Destination id={destinationId} name="Look at it" {...look} />;
  }
  if (leadsTo === 'source') {
    return (
      <LinkButton {...look} to="/sources/$id" params={{ id: sourceId }}>
        {button}
      </LinkButton>
    );
  }
  if (leadsTo === 'dead-letters') {
    return (
      <LinkButton {...look} to="/dead-letters" search={{ destinationId }}>
        {button}
      </LinkButton>
    );
  }
  if (leadsTo === 'destination') return <Destination id={destinationId} name={button} {...look} />;
  return (
    <LinkButton {...look} to="/destinations/$id/settings" params={{ id: destinationId }}>
      {button}
    </LinkButton>
  );
}

type DestinationProps = { id: string; name: string; small: boolean; look: 'ink' | 'plain' };

function Destination({ id, name, ...look }: DestinationProps) {
  return (
    <LinkButton {...look} to="/destinations/$id" params={{ id }}>
      {name}
    </LinkButton>
  );
}

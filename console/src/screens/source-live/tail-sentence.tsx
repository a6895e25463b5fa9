import type { Source } from '@millrace/contract/control';
import type { ReactNode } from 'react';
import { count, counted } from '../../format/numbers.ts';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import type { TailRow } from '../../parts/tail/tail-rows.ts';
import type { Tail } from '../../parts/tail/use-tail.ts';

type TailSentenceProps = {
  source: Source;
  tail: Tail;
  rows: readonly TailRow[];
  /** The server sends only some of the calls. */
  isNarrowed: boolean;
  actions: ReactNode;
};

export function TailSentence({ source, tail, rows, isNarrowed, actions }: TailSentenceProps) {
  const now = useNow(1_000);
  const rate = tail.rows.rate(now);
  const { leftOut } = tail.rows.counts();
  const calls = rows.filter(({ kind }) => kind !== 'left-out').length;
  const refused = rows.filter(({ kind }) => kind === 'refused').length;
  const name = <OuterText text={source.name} most={60} />;
  if (!source.enabled) {
    return (
      <Sentence state={{ name: 'paused', words: 'Disabled.' }} actions={actions}>
        Millrace refuses every call of {name}. To do: enable it in the settings.
      </Sentence>
    );
  }
  return (
    <Sentence
      actions={actions}
      then={
        leftOut > 0 && (
          <>
            Sampled: <b>{counted(leftOut, 'event')} left out</b> since you opened this page, calls and outcomes
            together. The tail shows at most 50 a second; Millrace stored every accepted call.
          </>
        )
      }
    >
      {name} {rateWords({ rate, isSampled: leftOut > 0, isNarrowed })} {refusedWords(calls, refused)}
    </Sentence>
  );
}

type Rate = { rate: number; isSampled: boolean; isNarrowed: boolean };

function rateWords({ rate, isSampled, isNarrowed }: Rate): string {
  if (rate === 0) return `sent no ${isNarrowed ? 'such ' : ''}call in the last ten seconds.`;
  const figure = rate < 10 ? rate.toFixed(1) : count(rate);
  return `sends ${isSampled ? 'more than ' : ''}${figure} ${isNarrowed ? 'such ' : ''}calls a second.`;
}

function refusedWords(calls: number, refused: number): string {
  if (calls < 2) return refused === 0 ? '' : 'Millrace refused the last one.';
  if (refused === 0) return `None of the last ${count(calls)} was refused.`;
  return `${count(refused)} of the last ${count(calls)} ${refused === 1 ? 'was' : 'were'} refused.`;
}

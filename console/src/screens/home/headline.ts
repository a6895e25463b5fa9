/** The sentence that opens the home screen, made of the overview. Pure. */
import type { Attention, Overview } from '@millrace/contract/control';
import { count, counted } from '../../format/numbers.ts';
import { firstOfEach, LOOKS, splitAtName } from './attention.ts';

const NAMED = 2;

export type Headline = { title: string; phrases: { name: string; words: string }[]; more: number };

/** The headline names at most two troubles, critical ones first as the API orders them. */
export function headlineOf(attention: readonly Attention[], destinations: number | undefined): Headline {
  const things = firstOfEach(attention);
  const troubled = things.filter(({ destinationId }) => destinationId !== undefined).length;
  const phrases = things.slice(0, NAMED).map(({ kind, sentence }) => ({
    name: splitAtName(sentence, undefined)[1],
    words: LOOKS[kind].words,
  }));
  return { title: titleOf(things.length, troubled, destinations), phrases, more: things.length - phrases.length };
}

function titleOf(things: number, troubled: number, destinations: number | undefined): string {
  if (things === 0) {
    if (destinations === undefined) return 'Nothing needs attention.';
    if (destinations === 0) return 'Millrace collects. No destination is set up yet.';
    return destinations === 1
      ? 'The destination takes what Millrace sends. Nothing needs attention.'
      : `All ${count(destinations)} destinations take what Millrace sends. Nothing needs attention.`;
  }
  if (troubled === 0) return `${counted(things, 'source needs', 'sources need')} attention: `;
  const of = destinations === undefined ? '' : ` of ${count(destinations)}`;
  const one = destinations === 1 || of === '' ? 'destination needs' : 'destinations needs';
  const words = troubled === 1 ? one : 'destinations need';
  return `${count(troubled)}${of} ${words} attention: `;
}

/** The second line counts waiting deliveries and dead letters. */
export function thenOf({ waiting, deadLetters }: Overview['tiles']): string {
  const letters = deadLetters ?? 0;
  if (waiting === 0 && letters === 0) return 'No delivery waits, and there are no dead letters.';
  if (letters === 0) return `${counted(waiting, 'delivery waits', 'deliveries wait')}; Millrace sends them by itself.`;
  const dead = counted(letters, 'is a dead letter', 'are dead letters').replace(/^1 /, 'one ');
  if (waiting === 0) return `Nothing waits; ${dead}, kept for 14 days.`;
  return `Millrace keeps both: ${counted(waiting, 'delivery waits', 'deliveries wait')}, ${dead}.`;
}

/** Outcomes of a call in the words and shapes of the console. */
import { HELP, helpCodeOf } from '@millrace/contract/help';
import type { StateName } from '../../parts/state-mark.tsx';

const WORDS: Record<string, { state: StateName; word: string }> = {
  delivered: { state: 'delivered', word: 'Delivered' },
  retry: { state: 'retrying', word: 'Retrying' },
  retrying: { state: 'retrying', word: 'Retrying' },
  waiting: { state: 'waiting', word: 'Waiting' },
  pending: { state: 'waiting', word: 'Waiting' },
  discarded: { state: 'givenup', word: 'Given up' },
  expired: { state: 'givenup', word: 'Given up' },
  skipped: { state: 'skipped', word: 'Skipped' },
};

/** Also for the states of a delivery. */
export function wordsOf(outcome: string): { state: StateName; word: string } {
  return WORDS[outcome] ?? { state: 'waiting', word: outcome };
}

const ENDS = new Set(['delivered', 'discarded', 'expired', 'skipped']);

/** Whether the record has all that becomes of a call. `connected` is how many destinations its source has, once that is known. */
export function isOver(
  { destinations }: { destinations: readonly { state: string }[] },
  connected: number | undefined,
): boolean {
  return destinations.length === 0 ? connected === 0 : destinations.every(({ state }) => ENDS.has(state));
}

/** "2 delivered, 1 skipped". */
export function summaryOf(outcomes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    const { word } = wordsOf(outcome);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => `${count} ${word.toLowerCase()}`).join(', ');
}

/** The reasons that the tail gives, for people; a status is said as an answer. */
export function reasonOf(why: readonly string[] = []): string {
  const [first, ...rest] = why;
  if (first === undefined) return '';
  if (first === 'filtered') return rest.length === 0 ? 'stopped by a filter' : `stopped by the rule ${rest.join(', ')}`;
  const known = helpCodeOf(first);
  if (known !== undefined && !first.startsWith('http_')) return lowerFirst(HELP[known].title);
  return why.map((one) => (/^\d{3}$/.test(one) ? `answered ${one}` : one)).join(', ');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

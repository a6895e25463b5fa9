/** Outcomes of a call in the words and shapes of the console. */
import { HELP, helpCodeOf } from '@millrace/contract/help';
import { lowerFirst } from '../../format/sentences.ts';
import { standingOf } from '../../format/standings.ts';

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
    const { word } = standingOf(outcome);
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

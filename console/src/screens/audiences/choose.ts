/** Which definitions the list shows, and the sentence above it. */
import type { Definition } from '@millrace/contract/control';
import type { StateName } from '../../format/state-name.ts';
import { counted } from '../../format/numbers.ts';
import { lagWords } from '../../parts/audience/definition-standing.ts';

export const KIND_CHOICES = [
  { value: '', label: 'Audiences and traits' },
  { value: 'audience', label: 'Audiences' },
  { value: 'trait', label: 'Computed traits' },
] as const;

type Wanted = { filter: string; kind: string };

export function chosen(definitions: readonly Definition[], { filter, kind }: Wanted): Definition[] {
  const wanted = filter.toLowerCase();
  return definitions.filter(
    (definition) =>
      (kind === '' || definition.kind === kind) &&
      [definition.name, definition.key, definition.id].some((text) => text.toLowerCase().includes(wanted)),
  );
}

/** A computation that is further behind than this is trouble: people are told late. */
const LATE_SECONDS = 60;

type Lead = { state: { name: StateName; words: string } | undefined; sentence: string; next: string };

export function leadOf(definitions: readonly Definition[], lagSeconds: number | null): Lead {
  const audiences = definitions.filter(({ kind }) => kind === 'audience').length;
  const traits = definitions.length - audiences;
  const named = [
    ...(audiences > 0 ? [counted(audiences, 'audience')] : []),
    ...(traits > 0 ? [counted(traits, 'computed trait')] : []),
  ].join(' and ');
  const incomplete = definitions.filter(({ incompleteSince }) => incompleteSince !== null).length;
  const unfinished = definitions.filter(({ state }) => state === 'preparing' || state === 'computing').length;
  const next = `The computation is ${lagWords(lagSeconds)}. Destinations are told changes only.`;
  if (lagSeconds !== null && lagSeconds > LATE_SECONDS)
    return {
      state: { name: 'retrying', words: 'Late.' },
      sentence: `${named}, ${lagWords(lagSeconds)}. No event is lost: Millrace counts it as soon as it reads it.`,
      next,
    };
  if (incomplete > 0)
    return {
      state: { name: 'retrying', words: 'Incomplete.' },
      sentence: `${incomplete} of ${named} ${incomplete === 1 ? 'misses' : 'miss'} events that were removed before they were counted.`,
      next,
    };
  if (unfinished > 0)
    return {
      state: { name: 'waiting', words: 'Computing.' },
      sentence: `${unfinished} of ${named} ${unfinished === 1 ? 'is' : 'are'} not live yet.`,
      next,
    };
  return {
    state: { name: 'delivered', words: 'Live.' },
    sentence: `${named}.`,
    next,
  };
}

/** The mark, the words and the button of each kind of trouble on the home screen. Pure. */
import type { Attention } from '@millrace/contract/control';
import type { StateName } from '../../parts/state-mark.tsx';

type Kind = Attention['kind'];

type Look = {
  state: StateName;
  /** Follows the name in the headline: "Orders to ERP is failing". */
  words: string;
  /** Follows the count in the tile: "2 failing". */
  counted?: string;
  button: string;
  leadsTo: 'destination' | 'destination-settings' | 'dead-letters' | 'source';
};

export const LOOKS: Record<Kind, Look> = {
  destination_failing: {
    state: 'givenup',
    words: 'is failing',
    counted: 'failing',
    button: 'See why',
    leadsTo: 'destination',
  },
  destination_asked_to_wait: {
    state: 'waiting',
    words: 'asked Millrace to wait',
    counted: 'asked to wait',
    button: 'Watch',
    leadsTo: 'destination',
  },
  destination_paused: {
    state: 'paused',
    words: 'is paused',
    counted: 'paused',
    button: 'Resume',
    leadsTo: 'destination',
  },
  destination_disabled: {
    state: 'skipped',
    words: 'is disabled and has a backlog',
    counted: 'disabled',
    button: 'Look at it',
    leadsTo: 'destination-settings',
  },
  destination_backlog: {
    state: 'waiting',
    words: 'has a backlog',
    counted: 'with a backlog',
    button: 'See the backlog',
    leadsTo: 'destination',
  },
  dead_letters: {
    state: 'givenup',
    words: 'has dead letters',
    counted: 'with dead letters',
    button: 'See why',
    leadsTo: 'dead-letters',
  },
  source_refusals: {
    state: 'refused',
    words: 'sends calls that Millrace refuses',
    button: 'See the calls',
    leadsTo: 'source',
  },
  source_quiet: { state: 'skipped', words: 'has gone quiet', button: 'Look at it', leadsTo: 'source' },
};

/** The API quotes the name: this answers the text before it, the name, and the text after it. */
export function splitAtName(sentence: string, name: string | undefined): [string, string, string] {
  const quoted = name === undefined ? sentence.match(/"(.*)"/s)?.[0] : `"${name}"`;
  const at = quoted === undefined ? -1 : sentence.indexOf(quoted);
  if (quoted === undefined || at < 0) return ['', '', sentence];
  return [sentence.slice(0, at), quoted.slice(1, -1), sentence.slice(at + quoted.length)];
}

/** A destination that fails and has dead letters is one thing to look at; the most urgent trouble speaks for it. */
export function firstOfEach(attention: readonly Attention[]): Attention[] {
  const seen = new Set<string>();
  return attention.filter(({ destinationId, sourceId }) => {
    const id = destinationId ?? sourceId ?? '';
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** "1 failing · 1 paused", of the destinations among the troubles. */
export function countStates(attention: readonly Attention[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of firstOfEach(attention)) {
    const { counted } = LOOKS[kind];
    if (counted !== undefined) counts.set(counted, (counts.get(counted) ?? 0) + 1);
  }
  return Array.from(counts, ([words, times]) => `${times} ${words}`).join(' · ');
}

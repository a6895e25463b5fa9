/** A profile in words: the name, the reason of a membership, and its end. */
import type { MembershipExplanation, Profile } from '@millrace/contract/control';
import { moment } from '../../format/times.ts';
import { conditionWords, type Names } from '../../parts/audience/condition-words.ts';
import type { Piece } from '../../parts/audience/pieces.ts';
import { cutText, visible } from '../../format/texts.ts';

type Membership = Profile['memberships'][number];
type LeafExplanation = MembershipExplanation['leaves'][number];

const MOST_NAME = 60;

/** The name of the person if a trait gives one, else the id. */
export function nameOf({ traits, id }: Pick<Profile, 'traits' | 'id'>): string {
  const named = [traits['name'], traits['email']].find((text) => typeof text === 'string' && text.trim() !== '');
  return cutText(visible(typeof named === 'string' ? named : id), MOST_NAME);
}

export type Chosen = { name: string; kind: 'audience' | 'trait'; membership: Membership | undefined };

/** "Ines Vogt is in Big spenders since 13:58." */
export function leadWords(who: string, { name, kind, membership }: Chosen, now: number): string {
  const what = cutText(visible(name), MOST_NAME);
  if (membership === undefined)
    return kind === 'audience' ? `${who} is not in ${what}.` : `${who} has no value of ${what}.`;
  const since = moment(membership.since, now);
  return kind === 'audience'
    ? `${who} is in ${what} since ${since}.`
    : `${who} has this value of ${what} since ${since}.`;
}

/** When it ends without another event. */
export function endWords(endsAt: string | null, kind: 'audience' | 'trait', isIn: boolean, now: number): string {
  const changes = kind === 'trait' ? 'The value changes' : isIn ? 'It ends' : 'It begins';
  if (endsAt === null) return kind === 'trait' || isIn ? `${changes} with an event only, never by itself.` : '';
  return `${changes} by itself on ${moment(endsAt, now)} at the earliest; another event may come before.`;
}

export type Claim = { words: Piece[]; isNot: boolean; holds: boolean };

/** A leaf below a "not" is told as what has to be so for the member. */
export function leafClaim({ path, leaf, holds }: LeafExplanation, names: Names): Claim {
  const isNot = path.endsWith('/not');
  const words = conditionWords(isNot ? { not: leaf } : leaf, names);
  return { words, isNot, holds: isNot ? !holds : holds };
}

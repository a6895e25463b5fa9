/** The first sentence of a journey: which destinations have the event, which do not, and why. */
import type { Explanation } from '@millrace/contract/control';
import { listed } from '../../format/listed.ts';

export type JourneyPart = Explanation['destinations'][number];

const NAMED = 3;

/** Clauses in the order of the sentence; a clause takes every destination with the same words. */
function wordsOf(part: JourneyPart): { one: string; many: string } {
  const same = (words: string) => ({ one: words, many: words });
  switch (part.state) {
    case 'delivered':
      return { one: 'has it', many: 'have it' };
    case 'retrying':
      return { one: 'is retrying', many: 'are retrying' };
    case 'pending':
      return waitingWords(part);
    case 'discarded':
      if (part.reason === 'lane_full') return same('had no room for it');
      return part.lastStatus === null ? same('did not get it') : same('rejected it');
    case 'expired':
      return same('did not take it within 4 hours');
    case 'skipped':
      return skippedWords(part);
  }
}

function waitingWords({ lane }: JourneyPart): { one: string; many: string } {
  switch (lane?.state) {
    case 'paused':
      return { one: 'is paused', many: 'are paused' };
    case 'failing':
      return { one: 'is failing, so it waits', many: 'are failing, so it waits' };
    case 'asked_to_wait':
      return { one: 'asked Millrace to wait', many: 'asked Millrace to wait' };
    case 'waiting':
    case 'draining':
    case undefined:
      return { one: 'gets it next', many: 'get it next' };
  }
}

function skippedWords({ reason, type }: JourneyPart): { one: string; many: string } {
  const same = (words: string) => ({ one: words, many: words });
  switch (reason) {
    case 'filtered':
      return same('filtered it out');
    case 'destination_disabled':
      return { one: 'was disabled', many: 'were disabled' };
    case 'integrations_map':
      return { one: 'was turned off by the call', many: 'were turned off by the call' };
    case 'type_not_accepted':
      return { one: `does not take ${type} calls`, many: `do not take ${type} calls` };
    case 'blocked_event':
      return same('did not get it because the event name is blocked');
    case 'erased':
    case 'suppressed':
      return same(`did not get it because its user is ${reason}`);
    default:
      return same('did not get it');
  }
}

const ORDER = ['delivered', 'retrying', 'pending', 'discarded', 'expired', 'skipped'];

export function nameOf({ destinationName }: Pick<JourneyPart, 'destinationName'>): string {
  return destinationName ?? 'A deleted destination';
}

/** Parts in the order of their sentence: those that have it first, those that never get it last. */
export function inOrder(parts: readonly JourneyPart[]): JourneyPart[] {
  return parts.toSorted(
    (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || nameOf(one).localeCompare(nameOf(other)),
  );
}

export function verdictSentence(parts: readonly JourneyPart[], withoutRow: Explanation['withoutRow'] = []): string {
  if (withoutRow.length > 0) {
    const names = listed(withoutRow.map(nameOf), NAMED);
    const first = `${names} ${withoutRow.length === 1 ? 'has' : 'have'} it since the first attempt; Millrace keeps a sample of such rows, and none of this one.`;
    return parts.length === 0 ? first : `${first} ${verdictSentence(parts)}`;
  }
  const groups = new Map<string, JourneyPart[]>();
  for (const part of inOrder(parts)) {
    const key = wordsOf(part).one;
    groups.set(key, [...(groups.get(key) ?? []), part]);
  }
  const clauses = [...groups.values()].map((group) => ({ has: group[0]?.state === 'delivered', text: clause(group) }));
  const having = clauses.filter(({ has }) => has).map(({ text }) => text);
  const others = clauses.filter(({ has }) => !has).map(({ text }) => text);
  return [...opening(having, parts), ...(others.length === 0 ? [] : [`${joined(others)}.`])].join(' ');
}

function opening(having: readonly string[], parts: readonly JourneyPart[]): string[] {
  if (having.length > 0) return having.map((text) => `${text}.`);
  const isMoving = parts.some(({ state }) => state === 'pending' || state === 'retrying');
  return [isMoving ? 'No destination has it yet.' : 'No destination got it.'];
}

function clause(group: readonly JourneyPart[]): string {
  const [first] = group;
  if (first === undefined) return '';
  const { one, many } = wordsOf(first);
  return `${listed(group.map(nameOf), NAMED)} ${group.length === 1 ? one : many}`;
}

/** A comma before the last clause: clauses hold commas and "and" of their own. */
function joined(clauses: readonly string[]): string {
  const last = clauses.at(-1) ?? '';
  return clauses.length < 2 ? last : `${clauses.slice(0, -1).join(', ')}, and ${last}`;
}

const MOVING_MS = 5_000;
const LOOKS_FOR_UNKNOWN = 12;

/** A call that just came in is known within seconds: after a minute of looks, an unknown one is taken as unknown. */
export function nextLookMs(explanation: Explanation | undefined, looks: number): number | false {
  if (explanation === undefined) return MOVING_MS;
  const { verdict, destinations } = explanation;
  const mayChange =
    verdict === 'unknown'
      ? looks < LOOKS_FOR_UNKNOWN
      : destinations.some(({ state }) => state === 'pending' || state === 'retrying');
  return mayChange ? MOVING_MS : false;
}

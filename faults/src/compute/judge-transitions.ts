/** Holds history, memberships and what the webhook heard against what an uninterrupted run has. */
import type { ComputedValue } from '../../../server/src/compute/profiles/profile-store.ts';
import type { Findings } from '../run-fault.ts';
import type { Expected } from './audience-plan.ts';

/** `pair` is `user key`. */
export type Change = { pair: string; sequence: number; value: ComputedValue };
export type Membership = { pair: string; value: ComputedValue };
/** An identify call that the webhook answered 200. */
export type Heard = { pair: string; sequence: number; value: ComputedValue; webhookId: string; at: number };

export type Outcome = {
  expected: ReadonlyMap<string, Expected>;
  changes: readonly Change[];
  memberships: readonly Membership[];
  heard: readonly Heard[];
  /** No visitor may leave before. */
  visitsEndAt: number;
};

const SHOWN = 5;

export function judgeTransitions(outcome: Outcome): Findings {
  const { changes, heard, expected } = outcome;
  const failures = [
    ...complaints('a history is not the expected one', wrongHistories(outcome)),
    ...complaints('a membership is not the expected one', wrongMemberships(outcome)),
    ...complaints('the webhook heard of a transition that is not in the history', unknownCalls(outcome)),
    ...complaints('one webhook-id stands for two transitions, or the reverse', mixedIds(heard)),
    ...complaints('the webhook knows another value', wrongBeliefs(outcome)),
    ...complaints('a visitor was told too early', earlyExits(outcome)),
  ];
  const repeated = heard.length - new Set(heard.map(({ webhookId }) => webhookId)).size;
  const figures = { pairs: expected.size, transitions: changes.length, heard: heard.length, repeated };
  return { failures, late: [], figures };
}

function complaints(what: string, found: readonly string[]): string[] {
  if (found.length === 0) return [];
  const rest = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : '';
  return [`${what}: ${found.slice(0, SHOWN).join(', ')}${rest}`];
}

function wrongHistories({ expected, changes }: Outcome): string[] {
  const byPair = Map.groupBy(changes, ({ pair }) => pair);
  const pairs = new Set([...expected.keys(), ...byPair.keys()]);
  return [...pairs].flatMap((pair) => {
    const own = (byPair.get(pair) ?? []).toSorted((a, b) => a.sequence - b.sequence);
    const { sequence = 0, value } = expected.get(pair) ?? {};
    const isGapless = own.length === sequence && own.every((each, at) => each.sequence === at + 1);
    if (isGapless && own.at(-1)?.value === value) return [];
    return [`${pair} has ${own.map((each) => `${each.sequence}=${String(each.value)}`).join(' ')}, not ${sequence}`];
  });
}

function wrongMemberships({ expected, memberships }: Outcome): string[] {
  const found = new Map(memberships.map(({ pair, value }) => [pair, value]));
  const having = [...expected].filter(([, { value }]) => value !== false && value !== null);
  const surplus = [...found.keys()].filter((pair) => !having.some(([other]) => other === pair));
  return [...surplus, ...having.filter(([pair, { value }]) => found.get(pair) !== value).map(([pair]) => pair)];
}

function unknownCalls({ changes, heard }: Outcome): string[] {
  const known = new Map(changes.map(({ pair, sequence, value }) => [`${pair} ${sequence}`, value]));
  return heard
    .filter(({ pair, sequence, value }) => known.get(`${pair} ${sequence}`) !== value)
    .map(({ pair, sequence }) => `${pair} ${sequence}`);
}

function mixedIds(heard: readonly Heard[]): string[] {
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  return heard.flatMap(({ pair, sequence, webhookId }) => {
    const name = `${pair} ${sequence}`;
    const isKnown = (names.get(webhookId) ?? name) === name && (ids.get(name) ?? webhookId) === webhookId;
    names.set(webhookId, name);
    ids.set(name, webhookId);
    return isKnown ? [] : [`${name} as ${webhookId}`];
  });
}

/** A receiver keeps the highest sequence of a pair; without any call a pair is false for it. */
function wrongBeliefs({ expected, heard }: Outcome): string[] {
  const believed = new Map<string, Heard>();
  for (const each of heard) if ((believed.get(each.pair)?.sequence ?? 0) < each.sequence) believed.set(each.pair, each);
  return [...expected].flatMap(([pair, { value }]) => {
    const known = believed.get(pair)?.value ?? false;
    return known === value ? [] : [`${pair} is ${String(value)}, heard ${String(known)}`];
  });
}

function earlyExits({ heard, visitsEndAt }: Outcome): string[] {
  return heard
    .filter(({ pair, value, at }) => pair.endsWith(' visitors') && value === false && at < visitsEndAt)
    .map(({ pair, at }) => `${pair} by ${visitsEndAt - at} ms`);
}

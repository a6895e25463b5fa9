import { createHash } from 'node:crypto';
import { type AcceptedEvent, brokenRule, type FilterValue, type JsonValue, ruleHolds } from '@millrace/contract';
import {
  amountOf,
  compareValues,
  type Condition,
  countsUntil,
  type Definition,
  type EventLeaf,
  type EventSelection,
  keptTrait,
  keptValue,
  leavesOf,
  millionthsOf,
  parseWindow,
  type TraitDefinition,
  type TraitLeaf,
} from '@millrace/contract/audiences';
import type { ComputedValue } from '../../src/compute/profiles/profile-store.ts';

export type CountedEvent = { event: AcceptedEvent; sourceId: string; index: number; at: number };

export type OracleDefinition = {
  number: number;
  id: string;
  definition: Definition;
  changed: number;
  changeCause: 'backfill' | 'edit';
  isLeaving: boolean;
  /** The first event that the leaf at this path counts; '' for a trait. Events before it were not counted for it yet. */
  since(path: string): number;
};

type Moment = { now: number; isMember(id: string): boolean };
type Scope = Moment & { events: readonly CountedEvent[]; each: OracleDefinition };

export function valueOf(each: OracleDefinition, events: readonly CountedEvent[], moment: Moment): ComputedValue {
  const { definition, isLeaving } = each;
  const scope = { ...moment, events, each };
  if (definition.kind === 'audience') return !isLeaving && holds(definition.when, '', scope);
  return isLeaving ? null : traitOf(definition, scope);
}

/** Every time at which an event leaves a window, in order. */
export function changeTimes(definitions: readonly OracleDefinition[], events: readonly CountedEvent[]): number[] {
  const windows = definitions.flatMap(({ definition }) =>
    definition.kind === 'trait'
      ? [definition.window]
      : leavesOf(definition.when).map(({ leaf }) => ('window' in leaf ? leaf.window : undefined)),
  );
  const lengths = new Set(windows.flatMap((window) => (window === undefined ? [] : [parseWindow(window) ?? 0])));
  const times = [...lengths].flatMap((length) => events.map(({ at }) => countsUntil(at, length)));
  return [...new Set(times)].toSorted((a, b) => a - b);
}

function holds(condition: Condition, path: string, scope: Scope): boolean {
  if ('all' in condition) return condition.all.every((part, at) => holds(part, `${path}/all/${at}`, scope));
  if ('any' in condition) return condition.any.some((part, at) => holds(part, `${path}/any/${at}`, scope));
  if ('not' in condition) return !holds(condition.not, `${path}/not`, scope);
  if ('audience' in condition) return scope.isMember(condition.audience);
  if ('trait' in condition) return traitHolds(condition, path, scope);
  return eventsHold(condition, path, scope);
}

function selected(selection: EventSelection, path: string, { events, each, now }: Scope): CountedEvent[] {
  const { type = 'track', event: name, where = [], window, between } = selection;
  const length = window === undefined ? undefined : parseWindow(window);
  return events.filter(({ event, sourceId, index, at }) => {
    if (index < each.since(path) || event.type !== type) return false;
    const own = event.type === 'track' ? event.event : event['name'];
    if (name !== undefined && own !== name) return false;
    if (each.definition.sources?.includes(sourceId) === false) return false;
    if (brokenRule(event, where) !== undefined) return false;
    if (length !== undefined && now >= countsUntil(at, length)) return false;
    return between === undefined || (at >= Date.parse(between.from) && at < Date.parse(between.to));
  });
}

function fieldOf(event: AcceptedEvent, field: string): JsonValue | undefined {
  let at: unknown = event;
  for (const name of field.split('.'))
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined;
  return (at ?? undefined) as JsonValue | undefined;
}

const amountsOf = (events: readonly CountedEvent[], field: string): number[] =>
  events.flatMap(({ event }) => amountOf(fieldOf(event, field)) ?? []);

const sumOf = (amounts: readonly number[]): bigint =>
  amounts.reduce((sum, amount) => sum + BigInt(millionthsOf(amount)), 0n);

function eventsHold(leaf: EventLeaf, path: string, scope: Scope): boolean {
  const events = selected(leaf, path, scope);
  const field = leaf.sum ?? leaf.min ?? leaf.max ?? leaf.average;
  if (field === undefined) return within(leaf, (bound) => events.length - bound);
  const amounts = amountsOf(events, field);
  const millionths = (bound: number) => BigInt(millionthsOf(bound));
  if (leaf.sum !== undefined) return within(leaf, (bound) => Number(sumOf(amounts) - millionths(bound)));
  if (amounts.length === 0) return false;
  if (leaf.average !== undefined)
    return within(leaf, (bound) => Number(sumOf(amounts) - millionths(bound) * BigInt(amounts.length)));
  const extreme = leaf.min === undefined ? Math.max(...amounts) : Math.min(...amounts);
  return within(leaf, (bound) => extreme - bound);
}

/** `over` says by how much the value is above a bound. */
function within({ atLeast, lessThan, exactly }: EventLeaf, over: (bound: number) => number): boolean {
  if (atLeast !== undefined && over(atLeast) < 0) return false;
  if (lessThan !== undefined && over(lessThan) >= 0) return false;
  return exactly === undefined || over(exactly) === 0;
}

/** By time, then by the first 48 bits of the hash of the messageId. */
export function inOrder(events: readonly CountedEvent[]): CountedEvent[] {
  const rank = ({ event }: CountedEvent) => createHash('sha256').update(event.messageId).digest('hex').slice(0, 12);
  return events.toSorted((a, b) => a.at - b.at || compareValues(rank(a), rank(b)));
}

function traitHolds(leaf: TraitLeaf, path: string, { events, each }: Scope): boolean {
  const [name = '', ...steps] = leaf.trait.split('.');
  const { sources } = each.definition;
  const naming = events.filter(
    ({ event, sourceId, index }) =>
      event.type === 'identify' &&
      Object.hasOwn(event.traits ?? {}, name) &&
      (sources === undefined || (sources.includes(sourceId) && index >= each.since(path))),
  );
  let value: unknown = keptTrait(inOrder(naming).at(-1)?.event.traits?.[name] ?? null);
  for (const step of steps)
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined;
  return ruleHolds({ ...leaf, field: 'traits' }, value as JsonValue | undefined);
}

function traitOf(definition: TraitDefinition, scope: Scope): ComputedValue {
  const events = selected(definition, '', scope);
  const { compute, field = '' } = definition;
  if (compute === 'count') return events.length === 0 ? null : events.length;
  const amounts = amountsOf(events, field);
  switch (compute) {
    case 'sum':
      return amounts.length === 0 ? null : Number(sumOf(amounts)) / 1e6;
    case 'average':
      return amounts.length === 0 ? null : average(amounts);
    case 'min':
      return amounts.length === 0 ? null : Math.min(...amounts);
    case 'max':
      return amounts.length === 0 ? null : Math.max(...amounts);
    default:
      return listed(compute, valuesOf(events, field));
  }
}

/** Half of a millionth is rounded up. */
function average(amounts: readonly number[]): number {
  const count = BigInt(amounts.length);
  const twice = 2n * sumOf(amounts) + count;
  const parts = 2n * count;
  const rest = ((twice % parts) + parts) % parts;
  return Number((twice - rest) / parts) / 1e6;
}

function valuesOf(events: readonly CountedEvent[], field: string): FilterValue[] {
  return inOrder(events).flatMap(({ event, at }) => {
    const found = field === 'timestamp' ? new Date(at).toISOString() : fieldOf(event, field);
    return keptValue(found) ?? [];
  });
}

function listed(compute: string, values: readonly FilterValue[]): ComputedValue {
  if (values.length === 0) return null;
  if (compute === 'first') return values[0] ?? null;
  if (compute === 'last') return values.at(-1) ?? null;
  const distinct = [...new Set(values)].toSorted(compareValues);
  if (compute === 'unique_list') return distinct;
  if (compute === 'unique_count') return distinct.length;
  const times = (value: FilterValue) => values.filter((each) => each === value).length;
  return distinct.reduce((best, value) => (times(value) > times(best) ? value : best));
}

/** Adds one event to the facts of a profile. In any order, the same events give the same facts. */
import { formatTimestamp, type IdentifyEvent } from '@millrace/contract';
import { amountOf, isPlaceholderId, keptTrait, keptValue, millionthsOf } from '@millrace/contract/audiences';
import { type Amount, exactAmount } from '../state/bytes.ts';
import { bucketAt, oldestLive } from '../state/buckets.ts';
import { addGroup } from '../state/groups.ts';
import { isNumbers, type Measure, type StampedMeasure } from '../state/measure.ts';
import { addToCells } from '../state/number-cells.ts';
import { groupsOf, measureFor, type ProfileState, traitsOf } from '../state/profile-state.ts';
import { rememberId } from '../state/seen-ids.ts';
import { addStamped } from '../state/stamped-cells.ts';
import { addToTile } from '../state/tiles.ts';
import { addTraits } from '../state/traits.ts';
import { addUnique, addValueCount } from '../state/value-cells.ts';
import { hash48, type IncomingEvent } from './incoming-event.ts';
import type { MeasureGroup, Plan, PlannedMeasure } from './plan.ts';

const MAX_TILE_HASHES = 10_000;

/** Marks the definitions that have to be evaluated, by their places in the plan. */
export type Touched = Uint8Array;

export type Folding = { isDuplicate: boolean; evictedIds: number };

/** `now` is the time of the evaluation that follows: buckets that no longer count then are left out. */
export function foldEvent(
  state: ProfileState,
  incoming: IncomingEvent,
  plan: Plan,
  now: number,
): Folding & { touched: Touched } {
  const touched = new Uint8Array(plan.definitions.length);
  const { event, at, hash, receivedAt } = incoming;
  if (event.type === 'group') {
    if (!isPlaceholderId(event.groupId)) addGroup(groupsOf(state), event.groupId, at);
    return { isDuplicate: false, evictedIds: 0, touched };
  }
  if (event.type === 'alias') return { isDuplicate: false, evictedIds: 0, touched };
  const { isKnown, evicted } = rememberId(state.seen, hash, receivedAt);
  if (isKnown) return { isDuplicate: true, evictedIds: evicted, touched };
  addToTile(state.tiles, tileHash(incoming, plan), at);
  if (event.type === 'identify') foldTraits(state, incoming, event, { plan, touched });
  for (const group of groupsFor(incoming, plan)) foldGroup(state, incoming, group, { touched, now });
  return { isDuplicate: false, evictedIds: evicted, touched };
}

export function tileHash({ event, sourceId, name }: IncomingEvent, plan: Plan): number {
  const text = tileName(sourceId, event.type, name);
  const known = plan.tileHashes.get(text);
  if (known !== undefined) return known;
  if (plan.tileHashes.size >= MAX_TILE_HASHES) plan.tileHashes.clear();
  const hash = hash48(text);
  plan.tileHashes.set(text, hash);
  return hash;
}

export function tileName(sourceId: string, type: string, name: string): string {
  return `${sourceId}\n${type}\n${name}`;
}

function foldTraits(
  state: ProfileState,
  { at, hash }: IncomingEvent,
  { traits }: IdentifyEvent,
  { plan, touched }: { plan: Plan; touched: Touched },
): void {
  if (traits === undefined) return;
  for (const name of addTraits(traitsOf(state), traits, { at, hash }, plan.neededTraits))
    for (const place of plan.byTrait.get(name) ?? []) touched[place] = 1;
}

const NO_GROUPS: readonly MeasureGroup[] = [];

export function groupsFor({ event, name }: IncomingEvent, plan: Plan): readonly MeasureGroup[] {
  const ofType = plan.groups.get(event.type);
  return ofType === undefined ? NO_GROUPS : (ofType.byName.get(name) ?? ofType.any);
}

function foldGroup(
  state: ProfileState,
  incoming: IncomingEvent,
  { sources, matches, measures }: MeasureGroup,
  { touched, now }: { touched: Touched; now: number },
): void {
  if (sources?.has(incoming.sourceId) === false || matches?.(incoming.event) === false) return;
  for (const measure of measures) {
    if (!foldMeasure(state, incoming, measure, now)) continue;
    for (const place of measure.users) touched[place] = 1;
  }
}

/** Whether the event counts for the measure. */
export function foldMeasure(
  state: ProfileState,
  incoming: IncomingEvent,
  planned: PlannedMeasure,
  now: number,
): boolean {
  const { at } = incoming;
  const { between, resolutionMs, keepMs, slot } = planned;
  if (between !== undefined && (at < between.from || at >= between.to)) return false;
  const bucket = bucketAt(at, resolutionMs);
  if (bucket < oldestLive(now, keepMs, resolutionMs)) return false;
  if (planned.kind === 'count') {
    addNumber(measureFor(state, slot, planned), bucket, 0);
    return true;
  }
  const add = planned.kind === 'trait' ? traitOf(incoming, planned) : valueOf(incoming, planned);
  if (add === undefined) return false;
  add(measureFor(state, slot, planned), bucket);
  return true;
}

type Add = (measure: Measure, bucket: number) => void;

/** How the value of the field is added; undefined where the event has none that counts. */
function valueOf({ event, at, hash }: IncomingEvent, { kind, read }: PlannedMeasure): Add | undefined {
  const found = read === 'time' ? formatTimestamp(at) : read?.(event);
  if (kind === 'sum' || kind === 'min' || kind === 'max') {
    const amount = amountOf(found);
    if (amount === undefined) return undefined;
    return (measure, bucket) => addNumber(measure, bucket, kind === 'sum' ? exactMillionths(amount) : amount);
  }
  const value = keptValue(found);
  if (value === undefined) return undefined;
  return (measure, bucket) => {
    if (measure.kind === 'unique') addUnique(measure.values, value, bucket);
    else if (measure.kind === 'frequent') addValueCount(measure.values, value, bucket);
    else addStamped((measure as StampedMeasure).cells, (measure as StampedMeasure).kind, bucket, [{ at, hash }, value]);
  };
}

function traitOf({ event, at, hash }: IncomingEvent, { trait = '' }: PlannedMeasure): Add | undefined {
  const { traits } = event;
  if (traits === undefined || !Object.hasOwn(traits, trait)) return undefined;
  const value = keptTrait(traits[trait] ?? null);
  return (measure, bucket) => {
    if (measure.kind === 'trait') addStamped(measure.cells, 'trait', bucket, [{ at, hash }, value]);
  };
}

function addNumber(measure: Measure, bucket: number, amount: Amount): void {
  if (isNumbers(measure)) addToCells(measure.cells, measure.kind, bucket, [1, amount]);
}

function exactMillionths(amount: number): Amount {
  const millionths = millionthsOf(amount);
  return Number.isSafeInteger(millionths) ? millionths : exactAmount(BigInt(millionths));
}

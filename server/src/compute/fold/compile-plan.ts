import { fieldReader, ruleMatcher } from '@millrace/contract';
import { audiencesIn, type Definition, settleSecondsOf } from '@millrace/contract/audiences';
import type { DefinitionNumber } from '../profiles/profile-store.ts';
import { tileName } from './fold-event.ts';
import { hash48 } from './incoming-event.ts';
import { compileCondition, compileTrait, type MeasureLookup } from './compile-condition.ts';
import { keptFor, type MeasureNeed, needsOf, type StoredMeasure } from './measure-need.ts';
import type {
  MeasureGroups,
  MeasureGroup,
  Plan,
  PlannedDefinition,
  PlannedFill,
  PlannedLeaf,
  PlannedMeasure,
  PlannedPart,
} from './plan.ts';

/** A version of a definition that is folded now. */
export type DefinitionInPlan = {
  number: DefinitionNumber;
  id: string;
  definition: Definition;
  version: number;
  /** The version of all definitions at which what it evaluates last changed. */
  changed: number;
  /** No receiver knows it: its transitions are no edit. The first version, unless it says otherwise. */
  isNew?: boolean;
  /** Its transitions are sent, unless it says otherwise. */
  isTold?: boolean;
  measures: readonly StoredMeasure[];
  /** `folded`: its measures are kept and it is not evaluated yet. `leaving`: it is being deleted, and its members leave. */
  use: 'folded' | 'evaluated' | 'leaving';
};

/** `version`: the newest change of the workspace's definitions, deleted ones included. */
export function compilePlan(definitions: readonly DefinitionInPlan[], version: number): Plan {
  const measures = new Map<number, PlannedMeasure>();
  const groups = new Map<string, MeasureGroups>();
  const evaluated = inOrder(definitions.filter(({ use }) => use !== 'folded'));
  const numbers = new Map(evaluated.map(({ id, number }) => [id, number]));
  for (const each of definitions) addMeasures(each, measures, groups);
  mixInAny(groups);
  const planned = evaluated.map((each) => planOf(each, measures, numbers));
  const byTrait = noteUsers(planned);
  noteDependents(evaluated, planned);
  return {
    version,
    groups,
    measures,
    lastSlot: Math.max(0, ...measures.keys()),
    definitions: planned,
    byNumber: new Map(planned.map((each) => [each.number, each])),
    byTrait,
    neededTraits: new Set(byTrait.keys()),
    fills: fillsOf(definitions, measures),
    tileHashes: new Map(),
  };
}

/** Audiences after those that they ask for. A circle cannot be saved; if there were one, its audiences would come in some order. */
function inOrder(definitions: readonly DefinitionInPlan[]): DefinitionInPlan[] {
  const byId = new Map(definitions.map((each) => [each.id, each]));
  const ordered = new Set<DefinitionInPlan>();
  const visited = new Set<DefinitionInPlan>();
  const visit = (each: DefinitionInPlan): void => {
    if (visited.has(each)) return;
    visited.add(each);
    for (const id of asked(each)) {
      const other = byId.get(id);
      if (other !== undefined) visit(other);
    }
    ordered.add(each);
  };
  for (const each of definitions.toSorted((a, b) => a.number - b.number)) visit(each);
  return [...ordered];
}

function asked({ definition }: DefinitionInPlan): string[] {
  return definition.kind === 'audience' ? audiencesIn(definition.when) : [];
}

function addMeasures(
  { definition, measures: stored }: DefinitionInPlan,
  measures: Map<number, PlannedMeasure>,
  groups: Map<string, MeasureGroups>,
): void {
  for (const need of needsOf(definition)) {
    const slot = stored.find(({ id }) => id === need.id);
    if (slot === undefined) throw new Error(`Measure ${need.id} of a definition has no slot`);
    const known = measures.get(slot.slot);
    if (known !== undefined) continue;
    const { kind, resolutionMs, between } = need;
    const read = kind === 'trait' ? undefined : readerOf(need.field);
    const name = kind === 'trait' ? need.field : undefined;
    const measure = {
      slot: slot.slot,
      kind,
      resolutionMs,
      keepMs: keptFor(slot),
      read,
      between,
      users: [],
      trait: name,
    };
    measures.set(slot.slot, measure);
    addToGroup(need, measure, groups);
  }
}

function fillsOf(
  definitions: readonly DefinitionInPlan[],
  measures: ReadonlyMap<number, PlannedMeasure>,
): PlannedFill[] {
  const fills = new Map<number, PlannedFill>();
  for (const { definition, measures: stored } of definitions) {
    for (const { id, type, event = '' } of needsOf(definition)) {
      const { slot = -1, past } = stored.find((each) => each.id === id) ?? {};
      const measure = measures.get(slot);
      if (measure === undefined || past?.fill === undefined) continue;
      const { since, sources } = past.fill;
      fills.set(slot, { measure, since, tiles: sources.map((source) => hash48(tileName(source, type, event))) });
    }
  }
  return [...fills.values()].toSorted((one, other) => other.since - one.since);
}

function readerOf(field: string | undefined): PlannedMeasure['read'] {
  if (field === undefined) return undefined;
  return field === 'timestamp' ? 'time' : fieldReader(field);
}

function addToGroup(need: MeasureNeed, measure: PlannedMeasure, groups: Map<string, MeasureGroups>): void {
  let ofType = groups.get(need.type);
  if (ofType === undefined) groups.set(need.type, (ofType = { byName: new Map(), any: [] }));
  let list = need.event === undefined ? ofType.any : ofType.byName.get(need.event);
  if (list === undefined) ofType.byName.set(need.event ?? '', (list = []));
  const key = JSON.stringify([need.where, need.sources]);
  const same = list.find((group) => group.key === key);
  if (same !== undefined) same.measures.push(measure);
  else list.push(groupOf(need, key, measure));
}

function groupOf({ where, sources }: MeasureNeed, key: string, measure: PlannedMeasure): MeasureGroup {
  return {
    key,
    sources: sources && new Set(sources),
    matches: where.length === 0 ? undefined : ruleMatcher(where),
    measures: [measure],
  };
}

function mixInAny(groups: ReadonlyMap<string, MeasureGroups>): void {
  for (const { byName, any } of groups.values()) for (const list of byName.values()) list.push(...any);
}

function planOf(
  each: DefinitionInPlan,
  measures: ReadonlyMap<number, PlannedMeasure>,
  numbers: ReadonlyMap<string, DefinitionNumber>,
): PlannedDefinition {
  const { number, id, definition, version, changed, isNew = version === 1, isTold = true, use } = each;
  const byNeed = new Map(each.measures.map((stored) => [stored.id, measures.get(stored.slot)]));
  const lookup: MeasureLookup = {
    measure(need) {
      const measure = byNeed.get(need.id);
      if (measure === undefined) throw new Error(`Measure ${need.id} of definition ${id} is missing`);
      return measure;
    },
    number: (audience) => numbers.get(audience),
  };
  const computes =
    definition.kind === 'audience'
      ? { condition: compileCondition(definition.when, definition.sources, lookup) }
      : { trait: compileTrait(definition, lookup) };
  return {
    number,
    id,
    changed,
    changeCause: isNew && use !== 'leaving' ? 'backfill' : 'edit',
    computes: use === 'leaving' ? undefined : computes,
    isAudience: definition.kind === 'audience',
    settleMs: settleSecondsOf(definition) * 1_000,
    isTold,
    isForAnonymous: definition.includeAnonymous === true,
    dependents: [],
  };
}

/** Tells each measure and each trait which definitions look at it. */
function noteUsers(planned: readonly PlannedDefinition[]): Map<string, number[]> {
  const byTrait = new Map<string, number[]>();
  for (const [place, { computes }] of planned.entries()) {
    if (computes === undefined) continue;
    if ('trait' in computes) computes.trait.measure.users.push(place);
    else for (const leaf of leavesIn(computes.condition)) noteLeaf(leaf, place, byTrait);
  }
  return byTrait;
}

function noteLeaf(leaf: PlannedLeaf, place: number, byTrait: Map<string, number[]>): void {
  if (leaf.op === 'numbers' || (leaf.op === 'trait' && leaf.measure !== undefined)) {
    if (leaf.measure?.users.includes(place) === false) leaf.measure.users.push(place);
  } else if (leaf.op === 'trait') {
    const [name = ''] = leaf.names;
    const users = byTrait.get(name) ?? [];
    if (!users.includes(place)) byTrait.set(name, [...users, place]);
  }
}

export function leavesIn(part: PlannedPart): PlannedLeaf[] {
  if ('parts' in part) return part.parts.flatMap(leavesIn);
  return part.op === 'not' ? leavesIn(part.part) : [part];
}

function noteDependents(ordered: readonly DefinitionInPlan[], planned: readonly PlannedDefinition[]): void {
  const places = new Map(ordered.map(({ id }, place) => [id, place]));
  for (const [place, each] of ordered.entries()) {
    for (const id of asked(each)) {
      const other = places.get(id);
      if (other !== undefined && other !== place) planned[other]?.dependents.push(place);
    }
  }
}

import type { FilterRule } from '@millrace/contract';
import {
  type Condition,
  type EventLeaf,
  isAudienceLeaf,
  isTraitLeaf,
  type Leaf,
  millionthsOf,
  parseWindow,
  type TraitDefinition,
  type TraitLeaf,
} from '@millrace/contract/audiences';
import type { DefinitionNumber } from '../profiles/profile-store.ts';
import { type Amount, exactAmount } from '../state/bytes.ts';
import { type MeasureNeed, needOfEventLeaf, needOfTrait, needOfTraitLeaf } from './measure-need.ts';
import type { Bounds, NumberLeaf, PlannedLeaf, PlannedMeasure, PlannedPart, PlannedTrait } from './plan.ts';

export type MeasureLookup = {
  measure(need: MeasureNeed): PlannedMeasure;
  /** Undefined for an audience that is not evaluated: it has no members. */
  number(audienceId: string): DefinitionNumber | undefined;
};

type Scope = { sources: readonly string[] | undefined; lookup: MeasureLookup };

export function compileCondition(
  condition: Condition,
  sources: readonly string[] | undefined,
  lookup: MeasureLookup,
): PlannedPart {
  return compilePart(condition, '', { sources, lookup });
}

function compilePart(condition: Condition, path: string, scope: Scope): PlannedPart {
  if ('all' in condition)
    return { op: 'all', parts: condition.all.map((each, at) => compilePart(each, `${path}/all/${at}`, scope)) };
  if ('any' in condition)
    return { op: 'any', parts: condition.any.map((each, at) => compilePart(each, `${path}/any/${at}`, scope)) };
  if ('not' in condition) return { op: 'not', part: compilePart(condition.not, `${path}/not`, scope) };
  return compileLeaf(condition, path, scope);
}

function compileLeaf(leaf: Leaf, path: string, { sources, lookup }: Scope): PlannedLeaf {
  if (isAudienceLeaf(leaf)) return { op: 'audience', path, leaf, definition: lookup.number(leaf.audience) };
  if (isTraitLeaf(leaf)) {
    const need = needOfTraitLeaf(leaf, sources);
    const measure = need && lookup.measure(need);
    return { op: 'trait', path, leaf, names: leaf.trait.split('.'), rule: ruleOf(leaf), measure };
  }
  const aggregate = aggregateOf(leaf);
  return {
    op: 'numbers',
    path,
    leaf,
    measure: lookup.measure(needOfEventLeaf(leaf, sources)),
    aggregate,
    windowMs: windowOf(leaf.window),
    bounds: boundsOf(leaf, aggregate),
    atLeastOnly: aggregate === 'count' && leaf.lessThan === undefined ? leaf.atLeast : undefined,
  };
}

function ruleOf({ trait, op, value, values }: TraitLeaf): FilterRule {
  return {
    field: `traits.${trait}`,
    op,
    ...(value === undefined ? {} : { value }),
    ...(values === undefined ? {} : { values }),
  };
}

function aggregateOf(leaf: EventLeaf): NumberLeaf['aggregate'] {
  if (leaf.sum !== undefined) return 'sum';
  if (leaf.average !== undefined) return 'average';
  if (leaf.min !== undefined) return 'min';
  return leaf.max === undefined ? 'count' : 'max';
}

function boundsOf({ atLeast, lessThan, exactly }: EventLeaf, aggregate: NumberLeaf['aggregate']): Bounds {
  const inUnit = (bound: number | undefined): Amount | undefined =>
    bound === undefined || (aggregate !== 'sum' && aggregate !== 'average')
      ? bound
      : exactAmount(BigInt(millionthsOf(bound)));
  return { atLeast: inUnit(atLeast), lessThan: inUnit(lessThan), exactly: inUnit(exactly) };
}

export function compileTrait(definition: TraitDefinition, lookup: MeasureLookup): PlannedTrait {
  return {
    compute: definition.compute,
    measure: lookup.measure(needOfTrait(definition)),
    windowMs: windowOf(definition.window),
  };
}

function windowOf(window: string | undefined): number {
  return (window === undefined ? undefined : parseWindow(window)) ?? Number.POSITIVE_INFINITY;
}

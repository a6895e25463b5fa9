/**
 * Which measures a definition needs. Two conditions that look at the same events in the same way share one: its id says what is
 * counted, its slot stands for it in the states of profiles.
 */
import { hash } from 'node:crypto';
import { type FilterRule, parseTimestamp } from '@millrace/contract';
import {
  type Computation,
  type CountedType,
  type Definition,
  type EventLeaf,
  type EventSelection,
  isEventLeaf,
  isTraitLeaf,
  leavesOf,
  parseWindow,
  resolutionOf,
  type TraitDefinition,
  type TraitLeaf,
} from '@millrace/contract/audiences';
import type { StoredMeasure } from '../profiles/stored-measure.ts';
import type { MeasureForm, MeasureKind } from '../state/measure.ts';

export type { StoredMeasure };

const DAY_MS = 86_400_000;

export type MeasureNeed = MeasureForm & {
  id: string;
  type: CountedType;
  event: string | undefined;
  where: readonly FilterRule[];
  sources: readonly string[] | undefined;
  /** The field whose value is measured, or the trait. */
  field: string | undefined;
  between: { from: number; to: number } | undefined;
};

type Measured = Pick<MeasureNeed, 'kind' | 'field' | 'sources'>;

export function needsOf(definition: Definition): MeasureNeed[] {
  if (definition.kind === 'trait') return [needOfTrait(definition)];
  const byId = new Map<string, MeasureNeed>();
  for (const { leaf } of leavesOf(definition.when)) {
    const need = isEventLeaf(leaf)
      ? needOfEventLeaf(leaf, definition.sources)
      : isTraitLeaf(leaf)
        ? needOfTraitLeaf(leaf, definition.sources)
        : undefined;
    if (need === undefined) continue;
    const keepMs = Math.max(need.keepMs, byId.get(need.id)?.keepMs ?? 0);
    byId.set(need.id, { ...need, keepMs });
  }
  return [...byId.values()];
}

export function needOfEventLeaf(leaf: EventLeaf, sources: readonly string[] | undefined): MeasureNeed {
  const { sum, average, min, max } = leaf;
  const field = sum ?? average ?? min ?? max;
  const kind = min !== undefined ? 'min' : max !== undefined ? 'max' : field !== undefined ? 'sum' : 'count';
  return needOf(leaf, { kind, field, sources });
}

const KINDS: Readonly<Record<Computation, MeasureKind>> = {
  count: 'count',
  sum: 'sum',
  average: 'sum',
  min: 'min',
  max: 'max',
  first: 'first',
  last: 'last',
  most_frequent: 'frequent',
  unique_list: 'unique',
  unique_count: 'unique',
};

export function needOfTrait(definition: TraitDefinition): MeasureNeed {
  const { compute, field, sources } = definition;
  return needOf(definition, { kind: KINDS[compute], field, sources });
}

/**
 * A profile keeps the traits of all sources by itself. A definition over some of the sources has a measure, so that a trait of
 * another source does not count. Undefined: no measure is needed.
 */
export function needOfTraitLeaf(leaf: TraitLeaf, sources: readonly string[] | undefined): MeasureNeed | undefined {
  if (sources === undefined) return undefined;
  const [name = ''] = leaf.trait.split('.');
  return needOf({ type: 'identify' }, { kind: 'trait', field: name, sources });
}

function needOf(selection: EventSelection, { kind, field, sources }: Measured): MeasureNeed {
  const { type = 'track', event, where = [], window, between } = selection;
  const windowMs = window === undefined ? undefined : parseWindow(window);
  // Lists keep their newest values, so even a list for good has days.
  const forGood = kind === 'unique' ? DAY_MS : 0;
  const resolutionMs = windowMs === undefined ? forGood : resolutionOf(windowMs);
  const range = between && { from: parseTimestamp(between.from) ?? 0, to: parseTimestamp(between.to) ?? 0 };
  const rules = where.map((rule) => JSON.stringify([rule.field, rule.op, rule.value, rule.values])).toSorted();
  const what = [kind, resolutionMs, type, event, rules, field, range, sources && [...new Set(sources)].toSorted()];
  const id = hash('sha256', JSON.stringify(what), 'base64url').slice(0, 16);
  const keepMs = windowMs ?? Number.POSITIVE_INFINITY;
  return { id, kind, resolutionMs, keepMs, type, event, where, sources, field, between: range };
}

/**
 * The slots of a definition's measures: those of measures that are folded already and kept long enough, and new ones from `nextSlot`
 * on. A slot is never used for another measure, since old states may still have its bytes.
 */
export function assignSlots(
  definition: Definition,
  inUse: readonly StoredMeasure[],
  nextSlot: number,
): StoredMeasure[] {
  let next = nextSlot;
  return needsOf(definition).map(({ id, keepMs }) => {
    const stored = { id, keepMs: Number.isFinite(keepMs) ? keepMs : 0 };
    const shared = inUse.find((measure) => measure.id === id && keptFor(measure) >= keepMs);
    return shared ?? { ...stored, slot: next++ };
  });
}

export function keptFor({ keepMs }: StoredMeasure): number {
  return keepMs === 0 ? Number.POSITIVE_INFINITY : keepMs;
}

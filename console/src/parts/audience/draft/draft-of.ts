/** A definition as a draft, for editing. Everything that the API can hold has its place in the builder. */
import {
  type AudienceLeaf,
  type Condition,
  type Definition,
  type EventLeaf,
  type EventSelection,
  isAudienceLeaf,
  isTraitLeaf,
  type TraitLeaf,
} from '@millrace/contract/audiences';
import { draftOf as draftOfRule, nextKey } from '../../destination/filters/rules.ts';
import {
  type Comparison,
  type Draft,
  type DraftEvent,
  type DraftGroup,
  type DraftPart,
  type DraftSelection,
  emptyDraft,
  emptyGroup,
  emptySelection,
  type Measured,
  type Unit,
} from './draft.ts';

export function draftOf(definition: Definition): Draft {
  const shared: Draft = {
    ...emptyDraft(definition.kind),
    name: definition.name,
    sources: [...(definition.sources ?? [])],
    destinations: [...(definition.destinations ?? [])],
    includeAnonymous: definition.includeAnonymous ?? false,
    settleSeconds: definition.settleSeconds === undefined ? '' : String(definition.settleSeconds),
  };
  if (definition.kind === 'audience') return { ...shared, root: rootOf(definition.when) };
  return {
    ...shared,
    compute: definition.compute,
    computed: selectionOf(definition),
    field: definition.field ?? '',
  };
}

function rootOf(when: Condition): DraftGroup {
  const part = partOf(when);
  return part.shape === 'group' && !part.isNot ? part : emptyGroup('all', part);
}

function partOf(condition: Condition): DraftPart {
  if ('all' in condition) return emptyGroup('all', ...condition.all.map((each) => partOf(each)));
  if ('any' in condition) return emptyGroup('any', ...condition.any.map((each) => partOf(each)));
  if (!('not' in condition)) return leafOf(condition);
  const inner = partOf(condition.not);
  // A double "not" says the same as none, and a switch has two places only.
  return { ...inner, isNot: !inner.isNot };
}

function leafOf(leaf: EventLeaf | TraitLeaf | AudienceLeaf): DraftPart {
  if (isAudienceLeaf(leaf)) return { key: nextKey(), shape: 'audience', isNot: false, audience: leaf.audience };
  if (!isTraitLeaf(leaf)) return eventOf(leaf);
  const { trait, ...compared } = leaf;
  return { key: nextKey(), shape: 'trait', isNot: false, rule: draftOfRule({ field: trait, ...compared }) };
}

const AGGREGATES: readonly Exclude<Measured, 'count'>[] = ['sum', 'min', 'max', 'average'];

function eventOf(leaf: EventLeaf): DraftEvent {
  const measured = AGGREGATES.find((name) => leaf[name] !== undefined);
  return {
    key: nextKey(),
    shape: 'event',
    isNot: false,
    selection: selectionOf(leaf),
    measured: measured ?? 'count',
    field: measured === undefined ? '' : (leaf[measured] ?? ''),
    ...boundsOf(leaf),
  };
}

function boundsOf({ atLeast, lessThan, exactly }: EventLeaf): {
  comparison: Comparison;
  number: string;
  upper: string;
} {
  if (exactly !== undefined) return { comparison: 'exactly', number: String(exactly), upper: '' };
  if (atLeast !== undefined && lessThan !== undefined)
    return { comparison: 'between', number: String(atLeast), upper: String(lessThan) };
  if (lessThan !== undefined) return { comparison: 'lessThan', number: String(lessThan), upper: '' };
  return { comparison: 'atLeast', number: String(atLeast ?? 1), upper: '' };
}

function selectionOf({ type, event = '', where = [], window, between }: EventSelection): DraftSelection {
  return {
    ...emptySelection(),
    type: type === 'track' && event === '' ? 'any' : (type ?? 'track'),
    event,
    where: where.map((rule) => draftOfRule(rule)),
    time: window === undefined ? (between === undefined ? 'ever' : 'between') : 'window',
    ...(window === undefined ? {} : { length: window.slice(0, -1), unit: window.slice(-1) as Unit }),
    ...(between === undefined ? {} : { from: localOf(between.from), to: localOf(between.to) }),
  };
}

/** As `datetime-local` writes a time: in the browser's zone, to the minute, or finer where the time is. */
function localOf(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 23);
  return local.replace(/(:00)?\.000$/, '');
}

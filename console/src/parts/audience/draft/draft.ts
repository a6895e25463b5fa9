/** A definition as it is typed: numbers and times are texts, and each condition has a key by which its problems find it. */
import type { Computation, CountedType } from '@millrace/contract/audiences';
import { type DraftRule, nextKey } from '../../destination/filters/rules.ts';

export type TimeMode = 'ever' | 'window' | 'between';
export type Unit = 'm' | 'h' | 'd';

/** `any`: every tracked event, whatever its name. */
export type SelectedType = CountedType | 'any';

export type DraftSelection = {
  type: SelectedType;
  event: string;
  where: DraftRule[];
  time: TimeMode;
  length: string;
  unit: Unit;
  /** As `datetime-local` writes them, in the browser's zone. */
  from: string;
  to: string;
};

export type Measured = 'count' | 'sum' | 'min' | 'max' | 'average';
export type Comparison = 'atLeast' | 'lessThan' | 'exactly' | 'between';

type Shared = { key: number; isNot: boolean };
export type DraftEvent = Shared & {
  shape: 'event';
  selection: DraftSelection;
  measured: Measured;
  field: string;
  comparison: Comparison;
  number: string;
  /** Of "between": less than this. */
  upper: string;
};
export type DraftTrait = Shared & { shape: 'trait'; rule: DraftRule };
export type DraftAudience = Shared & { shape: 'audience'; audience: string };
export type DraftGroup = Shared & { shape: 'group'; join: 'all' | 'any'; parts: DraftPart[] };
export type DraftLeaf = DraftEvent | DraftTrait | DraftAudience;
export type DraftPart = DraftLeaf | DraftGroup;

export type Draft = {
  kind: 'audience' | 'trait';
  name: string;
  /** None: every source. */
  sources: string[];
  destinations: string[];
  includeAnonymous: boolean;
  /** Empty: the value that Millrace takes by itself. */
  settleSeconds: string;
  root: DraftGroup;
  compute: Computation;
  computed: DraftSelection;
  field: string;
};

export function emptySelection(): DraftSelection {
  return { type: 'track', event: '', where: [], time: 'window', length: '30', unit: 'd', from: '', to: '' };
}

export function emptyEvent(): DraftEvent {
  return {
    key: nextKey(),
    shape: 'event',
    isNot: false,
    selection: emptySelection(),
    measured: 'count',
    field: '',
    comparison: 'atLeast',
    number: '1',
    upper: '',
  };
}

export function emptyTrait(): DraftTrait {
  const key = nextKey();
  return { key, shape: 'trait', isNot: false, rule: { key, field: '', op: 'equals', text: '' } };
}

export function emptyAudience(): DraftAudience {
  return { key: nextKey(), shape: 'audience', isNot: false, audience: '' };
}

export function emptyGroup(join: 'all' | 'any', ...parts: DraftPart[]): DraftGroup {
  return { key: nextKey(), shape: 'group', isNot: false, join, parts };
}

export function emptyDraft(kind: Draft['kind']): Draft {
  return {
    kind,
    name: '',
    sources: [],
    destinations: [],
    includeAnonymous: false,
    settleSeconds: '',
    root: emptyGroup('all', emptyEvent()),
    compute: 'count',
    computed: emptySelection(),
    field: '',
  };
}

/** The group with one of its parts replaced, or taken out. */
export function withPart(group: DraftGroup, key: number, next: DraftPart | undefined): DraftGroup {
  const parts = group.parts.flatMap((part) => (part.key === key ? (next === undefined ? [] : [next]) : [part]));
  return { ...group, parts };
}

export function leafCount(group: DraftGroup): number {
  return group.parts.reduce((sum, part) => sum + (part.shape === 'group' ? leafCount(part) : 1), 0);
}

/** A condition read back as one English sentence, and a computed trait likewise. */
import {
  type AudienceDefinition,
  type AudienceLeaf,
  type Computation,
  type Condition,
  type Definition,
  type EventLeaf,
  isAudienceLeaf,
  isEventLeaf,
  isTraitLeaf,
  type Leaf,
  leavesOf,
  type TraitDefinition,
  type TraitLeaf,
} from '@millrace/contract/audiences';
import { count } from '../../format/numbers.ts';
import { joined, type Piece } from './pieces.ts';
import { comparedWords, eventWords, nameOf, stepWords, timeWords, whereWords } from './selection-words.ts';

/** The names of audiences by their ids. */
export type Names = ReadonlyMap<string, string>;

export function definitionWords(definition: Definition, names: Names): Piece[] {
  return definition.kind === 'audience' ? audienceWords(definition, names) : traitWords(definition);
}

function audienceWords({ when }: AudienceDefinition, names: Names): Piece[] {
  return ['A user is in while ', ...conditionWords(when, names, true), '.'];
}

/** How exact the windows of a definition are. */
export function exactnessWords(definition: Definition): string | undefined {
  const leaves = definition.kind === 'audience' ? leavesOf(definition.when).map(({ leaf }) => leaf) : [definition];
  return stepWords(leaves.flatMap((leaf) => ('window' in leaf && leaf.window !== undefined ? [leaf.window] : [])));
}

/** Groups inside of groups stand in brackets, so that "and" and "or" cannot be mistaken. */
export function conditionWords(condition: Condition, names: Names, isOutermost = false): Piece[] {
  if ('all' in condition || 'any' in condition) {
    const parts = 'all' in condition ? condition.all : condition.any;
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return conditionWords(only, names, isOutermost);
    const words = joined(
      parts.map((part) => conditionWords(part, names)),
      'all' in condition ? 'and' : 'or',
    );
    return isOutermost ? words : ['(', ...words, ')'];
  }
  if (!('not' in condition)) return leafWords(condition, names);
  const inner = condition.not;
  if ('not' in inner) return conditionWords(inner.not, names, isOutermost);
  if ('all' in inner || 'any' in inner) return ['it is not so that ', ...conditionWords(inner, names)];
  return notWords(inner, names);
}

export function leafWords(leaf: Leaf, names: Names): Piece[] {
  if (isTraitLeaf(leaf)) return traitLeafWords(leaf);
  if (isAudienceLeaf(leaf)) return ['they are in ', audienceName(leaf, names)];
  return eventLeafWords(leaf);
}

function notWords(leaf: Leaf, names: Names): Piece[] {
  if (isAudienceLeaf(leaf)) return ['they are not in ', audienceName(leaf, names)];
  if (isEventLeaf(leaf) && isCount(leaf)) {
    const { atLeast, lessThan, exactly, ...selection } = leaf;
    if (exactly === undefined && lessThan === undefined)
      return eventLeafWords({ ...selection, lessThan: atLeast ?? 1 });
    if (exactly === undefined && atLeast === undefined && lessThan !== undefined)
      return eventLeafWords({ ...selection, atLeast: lessThan });
  }
  return ['it is not so that ', ...leafWords(leaf, names)];
}

function audienceName({ audience }: AudienceLeaf, names: Names): Piece {
  return { name: names.get(audience) ?? (audience === '' ? 'an audience' : audience) };
}

function traitLeafWords({ trait, ...compared }: TraitLeaf): Piece[] {
  return ['their trait ', { name: trait === '' ? '…' : trait }, ...comparedWords(compared)];
}

const MEASURE_WORDS = { sum: 'the sum of', min: 'the least', max: 'the greatest', average: 'the average' } as const;
type Aggregate = keyof typeof MEASURE_WORDS;

function aggregateOf(leaf: EventLeaf): Aggregate | undefined {
  return (Object.keys(MEASURE_WORDS) as Aggregate[]).find((name) => leaf[name] !== undefined);
}

function isCount(leaf: EventLeaf): boolean {
  return aggregateOf(leaf) === undefined;
}

function eventLeafWords(leaf: EventLeaf): Piece[] {
  const aggregate = aggregateOf(leaf);
  const where = whereWords(leaf.where);
  if (aggregate === undefined) return [...doneWords(leaf), ...where, timeWords(leaf)];
  const field = (leaf[aggregate] ?? '').replace(/^properties\./, '');
  return [
    `${MEASURE_WORDS[aggregate]} `,
    { name: field === '' ? '…' : field },
    ' of their ',
    ...eventWords(leaf),
    ...where,
    timeWords(leaf),
    ` is ${boundWords(leaf)}`,
  ];
}

/** "they did X at least 3 times", "they did not do X". */
function doneWords(leaf: EventLeaf): Piece[] {
  const { atLeast, lessThan, exactly } = leaf;
  if (exactly === 0 || (lessThan === 1 && atLeast === undefined)) return ['they did not ', ...verbWords(leaf, 'do')];
  const done: Piece[] = ['they ', ...verbWords(leaf, 'did')];
  return atLeast === 1 && lessThan === undefined ? done : [...done, ` ${timesWords(leaf)}`];
}

function verbWords({ type = 'track', event }: EventLeaf, form: 'did' | 'do'): Piece[] {
  const named = nameOf(event);
  if (type === 'track') return [`${form} `, named ?? 'anything that is tracked'];
  if (type === 'identify') return [form === 'did' ? 'were identified' : 'identify'];
  const verb = form === 'did' ? 'viewed' : 'view';
  return named === undefined ? [`${verb} a ${type}`] : [`${verb} the ${type} `, named];
}

function timesWords({ atLeast, lessThan, exactly }: EventLeaf): string {
  if (exactly !== undefined) return `exactly ${times(exactly)}`;
  if (atLeast !== undefined && lessThan !== undefined)
    return `at least ${count(atLeast)} and fewer than ${times(lessThan)}`;
  return lessThan === undefined ? `at least ${times(atLeast ?? 1)}` : `fewer than ${times(lessThan)}`;
}

function times(value: number): string {
  return value === 1 ? 'once' : `${count(value)} times`;
}

const AMOUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

export function amount(value: number): string {
  return AMOUNT.format(value);
}

/** The bounds of a number: "at least 500", "at least 2 and less than 5". */
export function boundWords({ atLeast, lessThan, exactly }: EventLeaf): string {
  if (exactly !== undefined) return `exactly ${amount(exactly)}`;
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${amount(atLeast)}`]),
    ...(lessThan === undefined ? [] : [`less than ${amount(lessThan)}`]),
  ];
  return bounds.join(' and ');
}

const COMPUTATION_WORDS: Readonly<Record<Computation, string>> = {
  count: 'the number of their ',
  sum: 'the sum of ',
  average: 'the average ',
  min: 'the least ',
  max: 'the greatest ',
  first: 'the first ',
  last: 'the last ',
  most_frequent: 'the most frequent ',
  unique_list: 'the list of every different ',
  unique_count: 'the number of different values of ',
};

function traitWords(definition: TraitDefinition): Piece[] {
  const { compute, field = '' } = definition;
  const of: Piece[] =
    compute === 'count' ? [] : [{ name: field === '' ? '…' : field.replace(/^properties\./, '') }, ' of their '];
  return [
    `Each user has ${COMPUTATION_WORDS[compute]}`,
    ...of,
    ...eventWords(definition),
    ...whereWords(definition.where),
    timeWords(definition),
    '.',
  ];
}

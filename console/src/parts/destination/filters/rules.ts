/** Filter rules as they are typed: each has one text for its values, which becomes what the API takes. */
import { ruleProblems } from '@millrace/contract/filter-rule';
import type { FilterOp, FilterRule, FilterValue } from '@millrace/contract';

export type DraftRule = { key: number; field: string; op: FilterOp; text: string };

/** The words of each op, in the order of the picker. */
export const OP_WORDS: Readonly<Record<FilterOp, string>> = {
  equals: 'is',
  not_equals: 'is not',
  one_of: 'is one of',
  not_one_of: 'is none of',
  starts_with: 'starts with',
  greater: 'greater than',
  less: 'less than',
  exists: 'is there',
  not_exists: 'is missing',
};

/** The fields that every event may have; paths below properties, traits and context can be typed. */
export const PLAIN_FIELDS = ['type', 'event', 'name', 'userId', 'anonymousId', 'groupId'] as const;

export const MOST_RULES = 20;
const MOST_VALUES = 100;

let lastKey = 0;
export function nextKey(): number {
  lastKey += 1;
  return lastKey;
}

export function emptyRule(): DraftRule {
  return { key: nextKey(), field: '', op: 'equals', text: '' };
}

export function draftOf(rule: FilterRule): DraftRule {
  return { key: nextKey(), field: rule.field, op: rule.op, text: textOf(rule) };
}

function textOf({ op, value, values }: FilterRule): string {
  if (op === 'starts_with') return String(value ?? '');
  const given = values ?? (value === undefined ? [] : [value]);
  return given.map((each) => written(each, isList(op))).join(', ');
}

/** Quotes only where the text would be read as something else without them. */
function written(value: FilterValue, inList: boolean): string {
  if (typeof value !== 'string') return String(value);
  const isPlain =
    value !== '' && readValue(value) === value && (!inList || !/[,"]/.test(value)) && value.trim() === value;
  return isPlain ? value : JSON.stringify(value);
}

export function isList(op: FilterOp): boolean {
  return op === 'one_of' || op === 'not_one_of';
}

export function takesValue(op: FilterOp): boolean {
  return op !== 'exists' && op !== 'not_exists';
}

export type ReadRule = { ok: true; rule: FilterRule } | { ok: false; at: 'field' | 'value'; problem: string };

/** The rule that was typed, or what is missing in it. */
export function readRule({ field, op, text }: DraftRule): ReadRule {
  const name = field.trim();
  if (name === '')
    return { ok: false, at: 'field', problem: 'Choose a field, or type a path such as properties.plan.' };
  const fieldProblem = ruleProblems({ field: name, op: 'exists' })[0];
  if (fieldProblem !== undefined) return { ok: false, at: 'field', problem: `The field ${fieldProblem[1]}.` };
  if (!takesValue(op)) return { ok: true, rule: { field: name, op } };
  if (text.trim() === '') return { ok: false, at: 'value', problem: 'Type what to compare with.' };
  if (isList(op)) {
    const values = readValues(text);
    if (values.length > MOST_VALUES) return { ok: false, at: 'value', problem: `At most ${MOST_VALUES} values.` };
    return { ok: true, rule: { field: name, op, values } };
  }
  const value = op === 'starts_with' ? text : readValue(text);
  if ((op === 'greater' || op === 'less') && typeof value !== 'number') {
    return { ok: false, at: 'value', problem: 'Type a number.' };
  }
  return { ok: true, rule: { field: name, op, value } };
}

/** `5` is a number, `true` a boolean, `"5"` and everything else a text. */
export function readValue(text: string): FilterValue {
  const bare = text.trim();
  if (bare === 'true' || bare === 'false') return bare === 'true';
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(bare) && Number.isFinite(Number(bare))) return Number(bare);
  if (bare.length >= 2 && bare.startsWith('"') && bare.endsWith('"')) return unquoted(bare);
  return bare;
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Commas separate values, except between quotes. */
export function readValues(text: string): FilterValue[] {
  const parts = text.match(/\s*"(?:[^"\\]|\\.)*"\s*(?=,|$)|[^,]+/g) ?? [];
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => readValue(part));
}

/** The rules that are whole; those that are still being typed are left out of a preview. */
export function wholeRules(drafts: readonly DraftRule[]): FilterRule[] {
  return drafts
    .map((draft) => readRule(draft))
    .filter((read) => read.ok)
    .map(({ rule }) => rule);
}

export function unfinished(drafts: readonly DraftRule[]): number {
  return drafts.filter((draft) => !readRule(draft).ok).length;
}

import type { AcceptedEvent, JsonValue } from './call.ts';

export const FILTER_OPS = [
  'equals',
  'not_equals',
  'one_of',
  'not_one_of',
  'starts_with',
  'exists',
  'not_exists',
  'greater',
  'less',
] as const;
export type FilterOp = (typeof FILTER_OPS)[number];
export type FilterValue = string | number | boolean;

/** One claim about an event. Which of `value` and `values` it has is decided by its op: see ruleProblems. */
export type FilterRule = { field: string; op: FilterOp; value?: FilterValue; values?: FilterValue[] };

/** The first rule that the event breaks; undefined when all hold and it may pass. */
export function brokenRule(event: AcceptedEvent, rules: readonly FilterRule[]): FilterRule | undefined {
  return rules.find((rule) => !holds(rule, fieldOf(event, rule.field)));
}

/** A field that is missing is neither equal, greater nor less, and is none of any list. */
function holds({ op, value, values = [] }: FilterRule, found: JsonValue | undefined): boolean {
  switch (op) {
    case 'equals':
      return found === value;
    case 'not_equals':
      return found !== value;
    case 'one_of':
      return values.some((each) => each === found);
    case 'not_one_of':
      return !values.some((each) => each === found);
    case 'starts_with':
      return typeof found === 'string' && typeof value === 'string' && found.startsWith(value);
    case 'exists':
      return found !== undefined;
    case 'not_exists':
      return found === undefined;
    case 'greater':
      return typeof found === 'number' && typeof value === 'number' && found > value;
    case 'less':
      return typeof found === 'number' && typeof value === 'number' && found < value;
  }
}

/** Says whether an event passes all rules; for rules that many events are held against. */
export function ruleMatcher(rules: readonly FilterRule[]): (event: AcceptedEvent) => boolean {
  const compiled = rules.map((rule) => ({ rule, read: fieldReader(rule.field) }));
  return (event) => compiled.every(({ rule, read }) => holds(rule, read(event)));
}

/** Reads one field of many events. */
export function fieldReader(field: string): (event: AcceptedEvent) => JsonValue | undefined {
  const names = field.split('.');
  return (event) => valueAt(event as Record<string, JsonValue>, names);
}

/** Whether a rule holds for a value, whatever field it is of. */
export function ruleHolds(rule: FilterRule, found: JsonValue | undefined): boolean {
  return holds(rule, found ?? undefined);
}

function fieldOf(event: AcceptedEvent, field: string): JsonValue | undefined {
  return valueAt(event as Record<string, JsonValue>, field.split('.'));
}

/** Own fields only, so that no name reaches into JavaScript itself. Null counts as missing, as in a call's ids. */
export function valueAt(value: JsonValue, names: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const name of names) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at ?? undefined;
}

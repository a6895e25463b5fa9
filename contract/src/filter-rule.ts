import type { FilterOp, FilterRule } from './filter.ts';

const FIELDS = ['type', 'event', 'name', 'userId', 'anonymousId', 'groupId'];
const ID_FIELDS = ['userId', 'anonymousId', 'groupId'];
const PATH = /^(properties|traits|context)(\.[^.]+)+$/;
const MAX_STEPS = 10;
const MAX_SHOWN = 300;

/** The kind of operand that each op takes. */
const NEEDS: Readonly<Record<FilterOp, 'value' | 'text' | 'number' | 'values' | 'nothing'>> = {
  equals: 'value',
  not_equals: 'value',
  one_of: 'values',
  not_one_of: 'values',
  starts_with: 'text',
  exists: 'nothing',
  not_exists: 'nothing',
  greater: 'number',
  less: 'number',
};

/** The problems of a rule, by the place in it, that a JSON schema cannot express. */
export function ruleProblems(rule: FilterRule): [path: string, message: string][] {
  const { field, op, value, values } = rule;
  const needs = NEEDS[op];
  const problems: [string, string][] = [];
  if (!isRuleField(field)) problems.push(['/field', RULE_FIELD_PROBLEM]);
  if (needs === 'values') {
    if (values === undefined) problems.push(['/values', `is needed by ${op}: a list of what to compare with`]);
    if (value !== undefined) problems.push(['/value', `is not for ${op}, which takes values`]);
    return problems;
  }
  if (values !== undefined) problems.push(['/values', `is not for ${op}: only one_of and not_one_of take a list`]);
  if (needs === 'nothing') {
    if (value !== undefined) problems.push(['/value', `is not for ${op}, which only asks whether the field is there`]);
  } else if (value === undefined) problems.push(['/value', `is needed by ${op}`]);
  else if (needs === 'text' && typeof value !== 'string') problems.push(['/value', `must be text for ${op}`]);
  else if (needs === 'number' && typeof value !== 'number') problems.push(['/value', `must be a number for ${op}`]);
  return problems;
}

export const RULE_FIELD_PROBLEM = `must be ${FIELDS.join(', ')}, or a path of at most ${MAX_STEPS} names, such as properties.plan, under properties, traits or context`;

export function isRuleField(field: string): boolean {
  return FIELDS.includes(field) || (PATH.test(field) && field.split('.').length <= MAX_STEPS + 1);
}

/**
 * A rule for people: `properties.plan equals "pro"`. Values of ids are left out: the text is stored in the record, and an id
 * is personal data.
 */
export function ruleText({ field, op, value, values }: FilterRule): string {
  const verb = `${field} ${op.replaceAll('_', ' ')}`;
  const given = values ?? (value === undefined ? [] : [value]);
  if (given.length === 0) return verb;
  if (ID_FIELDS.includes(field)) return `${verb} ${given.length === 1 ? 'a given id' : `${given.length} given ids`}`;
  const text = `${verb} ${given.map((each) => JSON.stringify(each)).join(', ')}`;
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1).toWellFormed()}…`;
}
